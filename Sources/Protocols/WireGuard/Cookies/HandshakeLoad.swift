internal import Identity

/// Decides which handshake messages are worth four agreements of keys (the paper, section 5.3).
///
/// While more handshakes arrive than ``WireGuardInterface/Limits/handshakesPerSecond``, or while the caller reports load,
/// a message needs the second code, which only a sender that receives at its address can make, and each source has a
/// budget. The replies with cookies have a budget too: a flood that exceeds it costs one hash for each message. A block of
/// addresses has only a share of it, so that a flood from one block leaves cookies for the others.
struct HandshakeLoad: Sendable {
    /// The result for one message.
    enum Verdict: Equatable, Sendable {
        case process
        case replyWithCookie
        case drop
    }

    /// The time for which a measured load lasts.
    private static let duration = Duration.seconds(1)
    /// The blocks of addresses (IPv4 /24, IPv6 /64) that use up the budget of replies together.
    private static let replyShares = 20

    private let rate: RateLimit
    private let sourceRate: RateLimit
    private let replyRate: RateLimit
    private let blockReplyRate: RateLimit
    private var handshakes = TokenBucket()
    private var replies = TokenBucket()
    private var sources: RecentlyUsed<IPAddress, TokenBucket>
    /// The replies to each block, apart from ``sources``: their addresses are not proven, and must not replace proven ones.
    private var blocks: RecentlyUsed<IPAddress, TokenBucket>
    private var loadedUntil = Duration.zero
    /// Whether the caller reports load.
    var isReported = false

    init(limits: WireGuardInterface.Limits) {
        rate = RateLimit(perSecond: limits.handshakesPerSecond, atOnce: limits.handshakesAtOnce)
        sourceRate = RateLimit(perSecond: limits.handshakesPerSourcePerSecond, atOnce: limits.handshakesPerSourceAtOnce)
        replyRate = RateLimit(perSecond: limits.cookieRepliesPerSecond, atOnce: limits.cookieRepliesPerSecond)
        let blockReplies = max(limits.cookieRepliesPerSecond / Self.replyShares, 1)
        blockReplyRate = RateLimit(perSecond: blockReplies, atOnce: blockReplies)
        sources = RecentlyUsed(limit: limits.handshakeSources)
        blocks = RecentlyUsed(limit: limits.handshakeSources)
    }

    /// The sources with an entry.
    var sourceCount: Int { sources.count }

    /// The blocks with an entry.
    var blockCount: Int { blocks.count }

    /// Whether messages need the second code.
    func isLoaded(at now: Duration) -> Bool { isReported || now < loadedUntil }

    /// Counts a message with a valid first code.
    mutating func judge(from source: IPAddress, at now: Duration, hasValidSecondCode: () -> Bool) -> Verdict {
        if !handshakes.take(under: rate, at: now) { loadedUntil = now + Self.duration }
        guard isLoaded(at: now) else { return .process }
        guard hasValidSecondCode() else {
            return takeReply(to: source, at: now) ? .replyWithCookie : .drop
        }
        // The host may have many addresses: an IPv6 block counts as one source.
        let host = AddressSource(source).host
        var bucket = sources[host] ?? TokenBucket()
        let isAllowed = bucket.take(under: sourceRate, at: now)
        sources[host] = bucket
        return isAllowed ? .process : .drop
    }

    /// Uses one reply, if the budget and the share of the source's block have one left.
    private mutating func takeReply(to source: IPAddress, at now: Duration) -> Bool {
        let block = AddressSource(source).block
        var bucket = blocks[block] ?? TokenBucket()
        guard bucket.take(under: blockReplyRate, at: now), replies.take(under: replyRate, at: now) else { return false }
        blocks[block] = bucket
        return true
    }
}
