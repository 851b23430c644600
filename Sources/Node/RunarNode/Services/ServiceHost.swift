internal import Concurrency
internal import Identity
internal import Services

/// The services of a node, and the resolution of paths and names to them.
final class ServiceHost: Sendable {
    /// The destination of a path on this device.
    struct Route: Sendable {
        let network: NetworkKey
        /// The path without its network.
        let path: RequestPath
        /// The service that it names, if this device has it.
        let hosted: HostedService?
        let action: (any ServiceAction)?
        let parameters: [String: String]
    }

    /// The key of a cached route: a path, and its origin.
    private struct RouteKey: Hashable, Sendable {
        /// The network of another device's request; nil on this one, where the text may name it.
        let network: NetworkId?
        let text: String
    }

    private struct State: Sendable {
        var names: NetworkNames
        /// The node's own, which answer in every network, by path.
        var builtIn: [String: HostedService] = [:]
        /// The paths of services of the node itself that other targets bring.
        var reserved: Set<String> = []
        /// The networks whose members were notified of services, so that they can be notified when none is left.
        var announced: Set<NetworkId> = []
        /// In the order in which they were added.
        var services: [HostedService] = []
        /// By network and path; rebuilt whenever services or networks change.
        var index: [NetworkKey: [String: HostedService]] = [:]
        /// The cached routes of recent paths.
        var routes: [RouteKey: Route] = [:]
    }

    /// The most cached routes; a full cache is emptied, so that a caller with more paths pays for finding them.
    private static let routeLimit = 1024

    /// Held from reading the list of networks until it is in use, so that the list that was read last stays.
    let naming = Locked(())
    /// Held while the services are announced, for the same reason.
    let announcing = Locked(())
    private let state: Locked<State>

    init(_ names: NetworkNames) {
        state = Locked(State(names: names))
    }

    // MARK: Names

    /// Updates the names of networks.
    func setNames(_ names: NetworkNames) {
        change { state in
            state.names = names
            Self.reindex(&state)
        }
    }

    /// Returns the network that a text means; an empty one is the default network.
    func key(_ text: String) throws(RunarError) -> NetworkKey {
        try state.withLock { state throws(RunarError) in try state.names.key(text) }
    }

    func isMember(of network: NetworkId) -> Bool { state.withLock { $0.names.isMember(of: network) } }

    var memberships: [NetworkId] { state.withLock { $0.names.memberships } }

    // MARK: Services

    /// Adds a service; its network's name is looked up whenever networks change.
    ///
    /// - Throws: ``RunarError`` when another service of the network has its path.
    func add(_ hosted: HostedService) throws(RunarError) {
        try change { state throws(RunarError) in
            let key = try state.names.key(hosted.network)
            guard state.index[key]?[hosted.service.path] == nil else {
                throw .failure(
                    .invalidParameters,
                    message:
                        "this node offers a service with this path already: end or remove that one, or choose another path",
                    context: hosted.service.path
                )
            }
            state.services.append(hosted)
            Self.reindex(&state)
        }
    }

    /// Adds a service of the node itself.
    func addBuiltIn(_ hosted: HostedService) {
        change { state in
            state.builtIn[hosted.service.path] = hosted
            state.routes = [:]
        }
    }

    /// Reserves the path of a service of the node itself; false if it is reserved already.
    func reserveBuiltIn(_ path: String) -> Bool { state.withLock { $0.reserved.insert(path).inserted } }

    /// Removes a service of the node itself, and its reservation.
    func removeBuiltIn(_ path: String) {
        change { state in
            state.builtIn[path] = nil
            state.reserved.remove(path)
            state.routes = [:]
        }
    }

    func remove(_ hosted: HostedService) {
        change { state in
            state.services.removeAll { $0 === hosted }
            Self.reindex(&state)
        }
    }

    var services: [HostedService] { state.withLock { $0.services } }

    var builtIn: [HostedService] {
        state.withLock { state in state.builtIn.values.sorted { $0.service.path < $1.service.path } }
    }

    /// Returns the services to announce in each network; a network announced before is included when none is left.
    func offered() -> [(network: NetworkId, services: [HostedService])] {
        state.withLock { state in
            for case .known(let network) in state.index.keys { state.announced.insert(network) }
            return state.announced.sorted().map { network in
                let services = state.index[.known(network)]?.values.sorted { $0.service.path < $1.service.path }
                return (network, services ?? [])
            }
        }
    }

    /// Each service with its network as it is known now.
    var located: [(network: NetworkKey, hosted: HostedService)] {
        state.withLock { state in
            state.services.compactMap { hosted in
                guard let key = try? state.names.key(hosted.network) else { return nil }  // two networks have the name
                return (key, hosted)
            }
        }
    }

    /// The service of a path that may name a network.
    func service(_ path: String) throws -> HostedService? {
        let path = try TopicPath(path)
        let key = try self.key(path.network)
        return state.withLock { $0.index[key]?[path.servicePath] }
    }

    /// Clears the cached routes, because actions of services changed.
    func forgetRoutes() { change { $0.routes = [:] } }

    /// Changes the state, and releases the old one after the lock: its handlers may own objects that call back here.
    private func change<E: Error>(_ body: (inout State) throws(E) -> Void) throws(E) {
        let before = try state.withLock { state throws(E) in
            let before = state
            try body(&state)
            return before
        }
        withExtendedLifetime(before) {}
    }

    // MARK: Paths

    /// Returns the destination of a path.
    ///
    /// - Throws: ``RunarError`` when it is no path of an action.
    func route(_ text: String) throws(RunarError) -> Route {
        let routeKey = RouteKey(network: nil, text: text)
        if let route = state.withLock({ $0.routes[routeKey] }) { return route }
        let topic: TopicPath
        do {
            topic = try TopicPath(text)
        } catch {
            throw RunarError(error)
        }
        guard topic.segments.count > 1, let path = RequestPath(topic) else {
            throw .failure(.invalidPath, message: "a request goes to service/action, without wildcards", context: text)
        }
        let (route, forgotten) = try state.withLock { state throws(RunarError) in
            let key = try state.names.key(topic.network)
            let route = Self.route(path, in: key, state)
            return (route, Self.remember(route, for: routeKey, &state))
        }
        withExtendedLifetime(forgotten) {}
        return route
    }

    /// Finds the service and the action of a path in a network.
    func route(_ path: RequestPath, in network: NetworkId) -> Route {
        let routeKey = RouteKey(network: network, text: path.text)
        if let route = state.withLock({ $0.routes[routeKey] }) { return route }
        let (route, forgotten) = state.withLock { state in
            let route = Self.route(path, in: .known(network), state)
            // Others may request any path.
            return (route, route.action == nil ? [:] : Self.remember(route, for: routeKey, &state))
        }
        withExtendedLifetime(forgotten) {}
        return route
    }

    /// Caches a route, and returns those that had to make room, to be released after the lock.
    private static func remember(_ route: Route, for routeKey: RouteKey, _ state: inout State) -> [RouteKey: Route] {
        var forgotten: [RouteKey: Route] = [:]
        if state.routes.count >= routeLimit { swap(&state.routes, &forgotten) }
        state.routes[routeKey] = route
        return forgotten
    }

    private static func route(_ path: RequestPath, in key: NetworkKey, _ state: State) -> Route {
        let hosted = state.builtIn[path.servicePath] ?? state.index[key]?[path.servicePath]
        let found = hosted?.action(path.topic)
        return Route(
            network: key,
            path: path,
            hosted: hosted,
            action: found?.0,
            parameters: found?.1 ?? [:]
        )
    }

    private static func reindex(_ state: inout State) {
        state.routes = [:]
        state.index = [:]
        for hosted in state.services {
            guard let key = try? state.names.key(hosted.network) else { continue }  // two networks have the name
            // The earlier one stays where two names have become one network.
            if state.index[key]?[hosted.service.path] == nil {
                state.index[key, default: [:]][hosted.service.path] = hosted
            }
        }
    }
}
