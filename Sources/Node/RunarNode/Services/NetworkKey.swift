internal import Concurrency
internal import Identity

/// The network that a service, request or event belongs to.
enum NetworkKey: Hashable, Sendable {
    /// A network that this device knows.
    case known(NetworkId)
    /// A name that is no network yet: it works on this device alone.
    case named(String)

    var networkId: NetworkId? { if case .known(let id) = self { id } else { nil } }

    /// A text that means it.
    var text: String {
        switch self {
        case .known(let id): id.base64Encoded
        case .named(let name): name
        }
    }
}

/// The meaning of network names on this device.
struct NetworkNames: Sendable {
    /// The network that an empty text means, by id or name; empty itself for the one membership.
    private let defaultNetwork: String
    private var byName: [String: NetworkId] = [:]
    private var ambiguous: Set<String> = []
    /// The networks of which this device is a member and in which the node participates, ascending.
    private(set) var memberships: [NetworkId] = []

    /// - Parameters:
    ///   - networks: All that are known, with this device's part in them.
    ///   - defaultNetwork: The network of an empty text, by id or name; empty itself for the only membership.
    ///   - wanted: The networks in which the node participates besides the default one, by id or name; empty for all.
    init(_ networks: [NetworkInfo] = [], default defaultNetwork: String = "", restrictedTo wanted: [String] = []) {
        self.defaultNetwork = defaultNetwork
        for (name, networks) in Dictionary(grouping: networks, by: { $0.name ?? "" }) where !name.isEmpty {
            let members = networks.filter(\.isMember)
            if let only = networks.count == 1 ? networks.first : members.count == 1 ? members.first : nil {
                byName[name] = only.networkId
            } else {
                ambiguous.insert(name)
            }
        }
        memberships = networks.filter(\.isMember).map(\.networkId).sorted()
        guard !wanted.isEmpty else { return }
        let meant = (wanted + [defaultNetwork]).compactMap { name in
            try? key(name).networkId  // an ambiguous name selects none
        }
        memberships.removeAll { !meant.contains($0) }
    }

    /// Returns the network that a text means: an id, a name, or, when it is empty, the default network.
    ///
    /// - Throws: ``RunarError`` when two networks have the name.
    func key(_ text: String) throws(RunarError) -> NetworkKey {
        let text = text.isEmpty ? defaultNetwork : text
        // First, so that no network takes the place of another one by having its id for a name.
        if let id = NetworkId(text) { return .known(id) }
        if let id = byName[text] { return .known(id) }
        if text.isEmpty, memberships.count == 1 { return .known(memberships[0]) }
        guard !ambiguous.contains(text) else {
            throw .failure(
                .invalidParameters,
                message: "this device knows more than one network called \(text): give the network's id",
                context: text
            )
        }
        return .named(text)
    }

    /// Whether a text means a network; a name that two networks have means neither.
    func isMeant(_ key: NetworkKey, by text: String) -> Bool {
        (try? self.key(text)) == key  // see above
    }

    func isMember(of network: NetworkId) -> Bool { memberships.contains(network) }
}
