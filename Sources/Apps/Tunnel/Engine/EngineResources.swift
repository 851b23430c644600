/// The descriptors that an engine process inherits.
package struct EngineResources: Equatable, Sendable {
    /// The number of the first inherited descriptor after the standard ones.
    static let firstDescriptor: Int32 = 3
    /// The variable with the queues of the TUN interface, separated by commas.
    static let queuesVariable = "RUNAR_TUN_FDS"
    /// The variable with the bound UDP sockets, separated by commas: at most one of each family.
    static let socketsVariable = "RUNAR_UDP_FDS"
    /// The variable with the socket of the configuration protocol, by the name that wireguard-go reads.
    static let controlVariable = "WG_UAPI_FD"
    /// The variable with the socket whose other end only the supervisor has.
    static let supervisorVariable = "RUNAR_SUPERVISOR_FD"
    /// The most UDP sockets.
    static let socketLimit = 2

    /// The queues of the TUN interface.
    package let queues: [Int32]
    /// The bound UDP sockets.
    package let sockets: [Int32]
    /// The listening or connected socket of the configuration protocol.
    package let control: Int32
    /// The socket that the end of the supervisor closes.
    package let supervisor: Int32

    /// Reads the numbers from the environment; nil if one is missing, no number of an inherited descriptor, or named
    /// twice.
    package init?(environment: (String) -> String?) {
        guard let queues = Self.numbers(environment(Self.queuesVariable), limit: TunnelDevice.queueLimit),
            let sockets = Self.numbers(environment(Self.socketsVariable), limit: Self.socketLimit),
            let control = Self.numbers(environment(Self.controlVariable), limit: 1)?.first,
            let supervisor = Self.numbers(environment(Self.supervisorVariable), limit: 1)?.first
        else { return nil }
        let all = queues + sockets + [control, supervisor]
        guard Set(all).count == all.count else { return nil }
        self.queues = queues
        self.sockets = sockets
        self.control = control
        self.supervisor = supervisor
    }

    /// One to `limit` numbers from 3.
    private static func numbers(_ text: String?, limit: Int) -> [Int32]? {
        let parts = text?.split(separator: ",", omittingEmptySubsequences: false) ?? []
        guard (1...limit).contains(parts.count) else { return nil }
        var numbers: [Int32] = []
        for part in parts {
            guard let number = Int32(part), number >= firstDescriptor else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}
