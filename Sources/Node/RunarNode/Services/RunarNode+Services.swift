internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Node
internal import Services

// The services of this device.
extension RunarNode {
    /// Offers a service: it answers here at once if the node runs, and whenever it runs.
    ///
    /// - Throws: ``RunarError`` 5003 or 5006 when its path is taken or malformed, or one of its actions or topics is; the
    ///   error of its `start()`, and then it stays, in the state `error`.
    public func addService(_ service: RunarService) async throws {
        try await host(service)
    }

    /// Offers a service that brings its own dispatch.
    public func addService(_ service: any RunarServiceProtocol) async throws {
        try await addService((service as? RunarService) ?? ForeignService(service))
    }

    /// Removes a service; requests under way run to completion.
    ///
    /// - Throws: ``RunarError`` 4001 when there is none with this path; the error of its `stop()`, after it was removed.
    public func removeService(_ servicePath: String) async throws {
        guard let hosted = try services.service(servicePath) else {
            throw ServiceFailures.noService(servicePath)
        }
        services.remove(hosted)
        servicesChanged()
        let following = hosted.status.withLock { status in
            defer { status.following = .ended }
            return status.following
        }
        if case .active(let subscriptions) = following {
            for subscription in subscriptions { subscription.cancel() }
        }
        defer { letGo(of: hosted.service) }
        try await end(hosted)
    }

    // MARK: - Inside

    /// Reloads the networks and their names.
    func networksChanged() {
        do {
            try services.naming.withLock { _ in
                let names = NetworkNames(
                    try networks(),
                    default: config.defaultNetworkId,
                    restrictedTo: config.networkIds
                )
                guard let driver = phases.driver else {
                    router.setNames(names) { _ in [] }
                    return services.setNames(names)
                }
                // First, so that subscriptions by name receive all events of a network that the node joins below.
                driver.withEventWindows { window in router.setNames(names, window: window) }
                // The node joins the network before the new names let a request use it.
                for network in names.memberships where !services.isMember(of: network) {
                    takePart(in: network, with: driver)
                }
                services.setNames(names)
            }
        } catch {
            logs[.services].error("the networks cannot be read: \(error)")
        }
        servicesChanged()
    }

    private func takePart(in network: NetworkId, with driver: NodeDriver) {
        do {
            try load(network, into: driver)
        } catch {
            logs[.services].error("what is stored of the network \(network.short) cannot be read: \(error)")
        }
    }

    /// Updates routes and announcements after services or actions changed.
    func servicesChanged() {
        services.forgetRoutes()
        announceServices()
    }

    /// The time limit for the start and for the stop of a service.
    static let servicePatience = Duration.seconds(30)

    /// Starts all services that do not run, each for at most ``servicePatience``.
    func startServices() async {
        await withDiscardingTaskGroup { group in
            for hosted in services.services {
                group.addTask {
                    do {
                        try await self.begin(hosted)
                    } catch {
                        self.logs[.services].error("the service \(hosted.service.path) does not run: \(error)")
                    }
                }
            }
        }
    }

    /// Stops all services, each for at most ``servicePatience``; at the deadline, if there is one, it returns false.
    func stopServices(until deadline: Duration?) async -> Bool {
        guard !services.services.isEmpty else { return true }
        return await wait(until: deadline) { await self.stopServices() }
    }

    private func stopServices() async {
        await withDiscardingTaskGroup { group in
            for hosted in services.services {
                group.addTask {
                    do {
                        try await self.end(hosted)
                    } catch {
                        self.logs[.services].error("the service \(hosted.service.path) did not stop well: \(error)")
                    }
                }
            }
        }
    }

    private func host(_ service: RunarService) async throws {
        if let problem = service.table.withLock({ $0.problems.first }) { throw problem }
        try Self.check(service.path)
        let network = service.networkId ?? config.defaultNetworkId
        let hosted = HostedService(service, network: network, clock: clock)
        try hosted.checkOffer()
        try services.add(hosted)
        do {
            let isHere = try service.following.withLock { _ in
                let topics = service.table.withLock { table in
                    table.addNode(self)
                    return table.events
                }
                let subscriptions = try topics.map { try subscribe($0.topic, of: hosted, handler: $0.handler) }
                return hosted.status.withLock { $0.follow(subscriptions) }
            }
            // It was removed meanwhile.
            guard isHere else { return letGo(of: service) }
        } catch {
            services.remove(hosted)
            letGo(of: service)
            throw RunarError(error)
        }
        tellState(of: hosted)
        // Other members are notified once it runs.
        if isRunning { try await begin(hosted) }
    }

    /// Removes this node from a service, unless that is here in another network, or again.
    private func letGo(of service: RunarService) {
        service.following.withLock { _ in
            // A concurrent call that adds it again has listed it by now, or adds this node to it afterwards.
            guard !services.services.contains(where: { $0.service === service }) else { return }
            service.table.withLock { $0.removeNode(self) }
        }
    }

    private static func check(_ path: String) throws(RunarError) {
        do throws(TopicPathError) {
            let parsed = try TopicPath(path)
            guard parsed.segments.count == 1, parsed.network.isEmpty, !parsed.isPattern,
                !path.hasPrefix("$"), parsed.path == path
            else { throw .malformed(path, reason: "a service's path is one segment and does not begin with $") }
        } catch {
            throw RunarError(error)
        }
    }

    /// Starts a service unless it runs already, was removed, or the node stopped.
    private func begin(_ hosted: HostedService) async throws {
        try await hosted.withExclusiveAccess {
            guard self.isWanted(hosted), [.initialized, .stopped, .error].contains(hosted.state) else { return }
            do {
                try await self.call(hosted) { try await hosted.service.start() }
            } catch {
                self.set(.error, of: hosted)
                throw error
            }
            hosted.status.withLock { $0.startedAt = self.clock.date }
            self.set(.running, of: hosted)
            // Its own start may have removed it, or stopped the node.
            if !self.isWanted(hosted) { try await self.end(hosted) }
        }
    }

    private func isWanted(_ hosted: HostedService) -> Bool {
        isRunning && services.services.contains { $0 === hosted }
    }

    /// Stops a service if it runs.
    private func end(_ hosted: HostedService) async throws {
        try await hosted.withExclusiveAccess {
            guard [.running, .paused].contains(hosted.state) else { return }
            self.set(.stopped, of: hosted)
            try await self.call(hosted) { try await hosted.service.stop() }
        }
    }

    private func call(_ hosted: HostedService, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await LocalCall.run(
            limit: Self.servicePatience,
            clock: clock,
            overdue: { ServiceFailures.deadline(hosted.service.path, Self.servicePatience) },
            body
        )
    }

    /// Records the state of a service and announces it.
    func set(_ state: RunarServiceState, of hosted: HostedService) {
        hosted.status.withLock { $0.state = state }
        servicesChanged()
        tellState(of: hosted)
    }

    /// Publishes the state of a service to its subscribers.
    private func tellState(of hosted: HostedService) {
        // Under the lock, so that the state published last is the current one.
        hosted.status.withLock { status in
            let state = status.state.rawValue
            let text = "$registry/services/\(hosted.service.path)/state/\(state)"
            guard let topic = try? TopicPath(text) else { return }  // it is one
            router.publishStatus(topic, of: hosted.network) { key in
                localEvent(topic, in: key, Data(#""\#(state)""#.utf8))
            }
        }
    }

    /// Subscribes a handler that a service got after it was added.
    func follow(_ topic: String, for service: RunarService, handler: @escaping ServiceTable.EventHandler) {
        for hosted in services.services where hosted.service === service {
            // A service that is not active yet subscribes to all its topics once it is.
            guard case .active = hosted.status.withLock({ $0.following }) else { continue }
            do {
                let subscription = try subscribe(topic, of: hosted, handler: handler)
                // Of a service that was removed meanwhile it ends here.
                _ = hosted.status.withLock { $0.follow([subscription]) }
            } catch {
                report(error, of: service)
            }
        }
    }

    /// Logs why a registration by a service that is already here failed.
    func report(_ error: any Error, of service: RunarService) {
        logs[.services].error("the service \(service.path) runs without its registrations: \(error)")
    }

    /// Subscribes a handler of a service to the events of a topic.
    private func subscribe(
        _ topic: String,
        of hosted: HostedService,
        handler: @escaping ServiceTable.EventHandler
    ) throws -> Subscription {
        let name = topic.contains(":") || hosted.network.isEmpty ? topic : "\(hosted.network):\(topic)"
        // The handler lasts as long as the subscription, which the service owns: it does not own the service.
        let (path, logger) = (hosted.service.path, logs[.services])
        return try subscribe(name) { event in
            do {
                try await handler(event)
            } catch {
                logger.warning("\(path) could not take \(event.topic.path): \(RunarError(error))")
            }
        }
    }
}

// The services of the node itself.
extension RunarNode {
    func addBuiltInServices() {
        for service in [BuiltInServices.makeRegistry(), BuiltInServices.makeTableService()] { addBuiltIn(service) }
    }

    /// Adds a service of the node itself, which answers in every network and is not announced.
    package func addBuiltIn(_ service: RunarService) {
        let hosted = HostedService(service, network: "", clock: clock)
        hosted.status.withLock { $0.state = .running }
        service.table.withLock { $0.addNode(self) }
        services.addBuiltIn(hosted)
    }

    /// Reserves the path of a service of the node itself; false if another one has it.
    package func reserveBuiltIn(_ path: String) -> Bool { services.reserveBuiltIn(path) }

    /// Removes a service of the node itself.
    package func removeBuiltIn(_ path: String) { services.removeBuiltIn(path) }

    /// The services of this device in a network, its own first, and those that other members offer in it.
    func serviceInfos(in key: NetworkKey) -> [RunarServiceInfo] {
        var providers: [String: (peers: [PeerId], offer: ServiceOffer)] = [:]
        if let network = key.networkId, let driver = try? running() {  // a stopped node has no connections
            for (peer, offers) in driver.offers(in: network).sorted(by: { $0.key < $1.key }) {
                for offer in offers {
                    providers[offer.path, default: ([], offer)].peers.append(peer)
                    if offer.isRunning { providers[offer.path]?.offer = offer }
                }
            }
        }
        var infos = services.builtIn.map { $0.info(in: key) }
        for (network, hosted) in services.located where network == key {
            infos.append(
                hosted.info(in: key, providers: providers.removeValue(forKey: hosted.service.path)?.peers ?? [])
            )
        }
        infos += providers.sorted { $0.key < $1.key }.map { RunarServiceInfo($1.offer, in: key, providers: $1.peers) }
        return infos
    }
}

extension RunarNode {
    /// Removes the cached answers of a service, on the device that would answer a request now; `$dht` has the values that
    /// this device read from the hash table of the network.
    ///
    /// - Throws: as `request(_:payload:options:)`.
    public func clearCache(service: String) async throws {
        _ = try await request("\(service)/cache/clear", payload: [:])
    }

    /// Forgets one answer: its key is the action, a colon and the argument, as in `get_user:123`.
    public func deleteCache(service: String, key: String) async throws {
        _ = try await request("\(service)/cache/delete", payload: ["key": .string(key)])
    }

    /// Removes the answers whose keys match `pattern`, in which `*` matches any characters.
    public func revokeCache(service: String, pattern: String) async throws {
        _ = try await request("\(service)/cache/revoke", payload: ["pattern": .string(pattern)])
    }
}

// Offers of services.
extension RunarNode {
    /// Announces the services of this device to the members of each network.
    func announceServices() {
        guard let driver = try? running() else { return }  // a node that starts does it then
        let offered = services.announcing.withLock { _ in
            let offered = services.offered()
            for (network, hosted) in offered {
                do {
                    try driver.offer(hosted.map(\.offer), in: network)
                } catch {
                    logs[.services].error("the services of this device cannot be announced: \(error)")
                }
            }
            return offered
        }
        // The objects of a service that was removed meanwhile may call this again when they are released: release them
        // outside the lock.
        withExtendedLifetime(offered) {}
    }
}
