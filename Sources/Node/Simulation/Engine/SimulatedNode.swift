internal import Identity
internal import Kademlia
internal import NodeCore

/// A device: its identity and disk, and the world's records of it.
struct SimulatedNode {
    let signer: any Signer
    let token: AccessToken
    /// Seconds by which the wall clock is ahead.
    var wallOffset: Int64
    /// Whether the device is on, and has a core.
    var isRunning = false
    /// The number of its starts and stops; events for an older generation are void.
    var generation: UInt32 = 0
    /// The wake that counts.
    var wakeGeneration: UInt32 = 0
    /// The slots of its connections, in no order that matters.
    var links: [UInt32] = []
    /// The time of its last start.
    var startedAt: Int64 = 0
    /// Whether a peer was admitted since.
    var isAdmitted = false
    /// Whether it lies in the hash table.
    var isHostile = false
    /// Whether it left permanently.
    var isGone = false
    private var side = PartitionSide.main
    var disk = Disk()

    /// The side of a partition.
    private enum PartitionSide {
        /// The side of the owner. May become `cutOff` at the next partition.
        case main
        /// The time of the first connection to the other side since. May become `main` at the next partition.
        case cutOff(firstContact: Int64?)
    }

    /// The state that survives a stop.
    struct Disk {
        /// The most peers that are kept, the latest first.
        static let peerLimit = 64

        var revocations: [Revocation] = []
        var secrets: MemberSecrets?
        /// Looked up and sorted, never iterated as they are.
        var records: [RecordId: Record] = [:]
        var peers: [(peer: PeerId, addresses: [SocketAddress])] = []
        var mail = MailDisk()
        var keys = KeyDisk()

        mutating func remember(_ peer: PeerId, at addresses: [SocketAddress]) {
            peers.removeAll { $0.peer == peer }
            peers.insert((peer, addresses), at: 0)
            if peers.count > Self.peerLimit { peers.removeLast() }
        }

        /// Returns the revocations that a core receives when it starts.
        func revocationSet(of network: NetworkId) -> RevocationSet {
            var set = RevocationSet(networkId: network)
            do throws(IdentityError) {
                try set.merge(revocations, verifySignature: { _ in true })
            } catch {
                preconditionFailure("a node stored revocations of another network: \(error)")
            }
            return set
        }
    }

    init(signer: any Signer, token: AccessToken, wallOffset: Int64) {
        self.signer = signer
        self.token = token
        self.wallOffset = wallOffset
    }

    var peerId: PeerId { token.peerId }

    /// Whether it is cut off by the latest partition; a new one has no contact yet.
    var isCutOff: Bool {
        get {
            switch side {
            case .main: false
            case .cutOff: true
            }
        }
        set { side = newValue ? .cutOff(firstContact: nil) : .main }
    }

    /// The time at which a node that was cut off was first connected to the other side again; always nil on that side.
    var firstContact: Int64? {
        get {
            switch side {
            case .main: nil
            case .cutOff(let time): time
            }
        }
        set { if isCutOff { side = .cutOff(firstContact: newValue) } }
    }
}

/// Addresses of simulated nodes: each has a host of its own in 10.0.0.0/8, neighbours by number far apart.
enum SimulatedAddress {
    private static let port: UInt16 = 4242
    private static let hostBits: UInt32 = 24
    /// Odd, so that multiplying by it modulo 2^24 gives each number another host; the other number undoes it.
    private static let spread: UInt32 = 0x9E_3779
    private static let inverse: UInt32 = {
        var inverse = spread
        for _ in 0..<4 { inverse = inverse &* (2 &- spread &* inverse) }
        return inverse & (1 << hostBits - 1)
    }()

    /// Returns the address of node number `number`.
    static func of(_ number: Int) -> SocketAddress {
        let host = UInt32(truncatingIfNeeded: number + 1) &* spread & (1 << hostBits - 1)
        return SocketAddress(.v4(10 << hostBits | host), port: port)
    }

    /// The number of the node that would be at `address`; nil if it cannot be one's.
    static func number(at address: SocketAddress) -> Int? {
        guard case .v4(let word) = address.ip, word >> hostBits == 10, address.port == port else { return nil }
        let host = word & (1 << hostBits - 1)
        return Int(host &* inverse & (1 << hostBits - 1)) - 1
    }
}
