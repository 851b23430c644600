internal import CQUICShim
internal import Identity

/// One direction of what this endpoint forwards; the I/O thread's.
struct RelayLeg: Sendable {
    let from: ConnectionCore
    /// What the datagrams come with.
    let channel: ChannelId
    let to: ConnectionCore
    /// What they go on with.
    let onward: ChannelId
    let budget: RelayBudget
    let header: [UInt8]

    init(from: ConnectionCore, channel: ChannelId, to: ConnectionCore, onward: ChannelId, budget: RelayBudget) {
        self.from = from
        self.channel = channel
        self.to = to
        self.onward = onward
        self.budget = budget
        header = onward.header
    }
}

/// How much a relay still forwards for two peers.
///
/// Only the I/O thread touches it once it was made, hence `@unchecked Sendable`.
final class RelayBudget: @unchecked Sendable {
    private let bytesPerSecond: Int
    private var bytesLeft: Int
    private var filledAt: UInt64 = 0

    /// A burst may be a quarter of a second long.
    init(bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
        bytesLeft = bytesPerSecond / 4
    }

    /// Whether so many bytes may go on now.
    func take(_ count: Int, at now: UInt64) -> Bool {
        let passed = Double(now &- min(filledAt, now)) / 1e9
        let gained = min(Double(bytesPerSecond / 4), passed * Double(bytesPerSecond))
        if gained >= 1 {
            bytesLeft = min(bytesPerSecond / 4, bytesLeft + Int(gained))
            filledAt = now
        }
        guard count <= bytesLeft else { return false }
        bytesLeft -= count
        return true
    }
}

extension ChannelId {
    /// What a datagram of the channel begins with.
    var header: [UInt8] { [UInt8(RQ_CHANNEL_BYTE)] + bytes }

    /// The channel that a datagram names.
    init(header: UnsafeBufferPointer<UInt8>) {
        self.init(unsafe header[1..<Int(RQ_CHANNEL_HEADER)].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The near end of every channel, for the engine.
    static let nearEnd = ChannelId(0)
}
