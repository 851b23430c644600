internal import CQUICShim
internal import Identity

/// One direction of a relay; used only by the I/O thread.
struct RelayLeg: Sendable {
    let from: ConnectionCore
    /// The channel on which the datagrams arrive.
    let channel: ChannelId
    let to: ConnectionCore
    /// The channel on which they are forwarded.
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

/// The token bucket of a relay for two peers.
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

    /// Takes `count` bytes from the bucket; returns false if they may not be forwarded now.
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
    /// The header of a datagram of the channel.
    var header: [UInt8] { [UInt8(RQ_CHANNEL_BYTE)] + bytes }

    /// The channel that a datagram names.
    init(header: UnsafeBufferPointer<UInt8>) {
        self.init(unsafe header[1..<Int(RQ_CHANNEL_HEADER)].reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// The near end of every channel, for the engine.
    static let nearEnd = ChannelId(0)
}
