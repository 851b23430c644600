public import Identity

/// Why a node could not do what it was asked.
public enum NodeError: Error, Hashable, Sendable {
    /// The peer is this device itself.
    case ownDevice
    /// No address of the peer is known.
    case noAddress(PeerId)
    /// No address of the peer answered; with the last failure.
    case unreachable(PeerId, String)
    /// The peer is banned on this device: its connections are refused, and it is not dialled.
    case banned(PeerId)
    /// The peer and this node share no network of which both have proof.
    case noSharedNetwork(PeerId)
    /// The peer refused this node; with its reason.
    case refusedByPeer(PeerId, String)
    /// This node refused the peer: what it showed was not good.
    case refused(PeerId, String)
    /// The connection or the admission ended before the peer confirmed the receipt.
    case interrupted(PeerId, String)
    /// The peer did not answer in time.
    case timedOut(PeerId)
    /// The message is larger than a message may be; larger things go as files. Both in bytes.
    case tooLarge(limit: Int, found: Int)
    /// The peer has no listener.
    case noListener(PeerId)
    /// The peer, or a listener there, has no room for the message, or no program took it in time; try again later.
    ///
    /// Other listeners may have it, and a program that was stopped may still show it.
    case receiverBusy(PeerId)
    /// The network has as many outgoing mails as it may; try again when some are delivered or expired.
    case tooMuchMail(NetworkId, limit: Int)
    /// The person or program at the peer said no.
    case declined(PeerId)
    /// The peer did not take the file although it was not declined; with its reason.
    case fileRefused(PeerId, FileRefusal)
    /// The received file differs from the offered one; the partial file was thrown away.
    case damaged(PeerId)
    /// A local file could not be read or written.
    case file(String)
    /// The node is not running.
    case notRunning
    /// This device's token is no good; nothing was changed.
    case badToken(TokenProblem)
    /// This device is no member of the network.
    case notAMember(NetworkId)
    /// This device does not hold the network's key.
    case notTheOwner(NetworkId)
    /// The root key came from elsewhere and may own networks that this device does not know; `next` is the lowest index
    /// of a network that is not known here.
    case networkIndexNeeded(next: UInt32)
    /// A new network cannot have this index: it is below `next`, the lowest that is free, or too high to be found again.
    case networkIndexRefused(UInt32, next: UInt32)
    /// The system gives no access to the local network, where members would be looked for.
    case noLocalNetwork(String)
}

extension NodeError: CustomStringConvertible {
    /// The failure in words, with what to do.
    public var description: String {
        switch self {
        case .ownDevice: "this is the id of this device: name another one"
        case .noAddress(let peer): "no address of peer \(peer.short) is known: give one with its connection text"
        case .unreachable(let peer, let why): "peer \(peer.short) could not be reached: \(why)"
        case .banned(let peer): "peer \(peer.short) is banned on this device"
        case .noSharedNetwork(let peer): "peer \(peer.short) and this device have no known network in common"
        case .refusedByPeer(let peer, let why): "peer \(peer.short) refused: \(why)"
        case .refused(let peer, let why): "peer \(peer.short) was refused: \(why)"
        case .interrupted(let peer, let why): "the connection to peer \(peer.short) broke before it confirmed: \(why)"
        case .timedOut(let peer): "peer \(peer.short) did not answer in time"
        case .tooLarge(let limit, let found):
            "the message has \(found) bytes, the limit is \(limit): send it as a file"
        case .noListener(let peer): "no program listens for messages on peer \(peer.short)"
        case .receiverBusy(let peer):
            "peer \(peer.short) has no room for the message, or no program there took it in time (one may still show it):"
                + " try again later"
        case .tooMuchMail(let network, let limit):
            "\(limit) mails wait for their delivery in network \(network.short), which is the limit: try again when some"
                + " are delivered or expired"
        case .declined(let peer): "peer \(peer.short) declined"
        case .fileRefused(let peer, let refusal): "peer \(peer.short) did not take the file: \(refusal)"
        case .damaged(let peer): "the file arrived damaged at peer \(peer.short) and was discarded: send it again"
        case .file(let why): why
        case .notRunning: "the node is not running: start it first"
        case .badToken(let problem): "the token is refused: \(problem)"
        case .notAMember(let network): "this device is no member of network \(network.short): join it first"
        case .notTheOwner(let network): "this device does not hold the key of network \(network.short)"
        case .noLocalNetwork(let why): "discovery on the local network failed: \(why)"
        case .networkIndexNeeded(let next):
            "the root key was restored on this device and may own networks that are not known here: give the texts of"
                + " all of them first, or an index that none of them has, \(next) or higher"
        case .networkIndexRefused(let index, let next):
            "a new network cannot have the index \(index): \(next) is the lowest that is free, and 1023 the highest"
        }
    }
}
