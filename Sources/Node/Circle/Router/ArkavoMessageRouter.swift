internal import CircleModel
public import Identity
public import NanoTDF
public import OneTimeKeys

/// Routes binary frames from every carrier: a connection, a mailbox, or a WebSocket.
///
/// A NanoTDF is recognised by its magic number `0x4C314C`. Sealed for a one-time key of this device, it belongs to the
/// conversation with the peer to which that key was given; otherwise a key access service has to open it. A message to an
/// X-Wing key has a magic number of its own. Every other frame is passed on as it is.
public struct ArkavoMessageRouter: Sendable {
    /// The carrier of a frame.
    public enum Source: Hashable, Sendable {
        /// A connection to this peer, which TLS has proved.
        case connection(PeerId)
        /// A mailbox in this network; the sender is not known before the message is opened.
        case mailbox(NetworkId)
        /// A WebSocket to a server.
        case webSocket
    }

    /// The destination of a frame.
    public enum Route: Sendable {
        /// The message of a conversation: open it with the one-time keys for the peer.
        case conversation(PeerId, SealedMessage)
        /// A message to a one-time key that this device does not have: trust was revoked, or the keys were replaced.
        case unknownKey(SealedMessage)
        /// A NanoTDF for a key access service.
        case service(NanoTDF)
        /// A NanoTDF that is damaged, or that has another content than its type requires.
        case malformed(reason: String)
        /// A frame of another kind.
        case other([UInt8])
    }

    /// The three bytes with which every NanoTDF of version 12 begins: `L1L`.
    public static let nanoTDFMagic: [UInt8] = [0x4C, 0x31, 0x4C]

    private let device: PeerId
    private let peer: @Sendable (OneTimeKeyName) -> PeerId?

    /// Creates a router of `device`; `peer` returns the peer to which one of its one-time keys was given.
    public init(of device: PeerId, peer: @escaping @Sendable (OneTimeKeyName) -> PeerId?) {
        self.device = device
        self.peer = peer
    }

    /// Returns the destination of a frame.
    ///
    /// A message from a connection belongs to the conversation with its peer alone.
    public func route(_ frame: [UInt8], from source: Source) -> Route {
        if let message = sealedMessage(in: frame) {
            guard message.recipient == device, let peer = peer(message.keyName) else { return .unknownKey(message) }
            if case .connection(let sender) = source, sender != peer {
                return .malformed(reason: "it is sealed with a key that was given to another peer")
            }
            return .conversation(peer, message)
        }
        guard frame.starts(with: Self.nanoTDFMagic) else { return .other(frame) }
        do {
            return .service(try NanoTDF(frame))
        } catch {
            return .malformed(reason: "\(error)")
        }
    }

    /// The message to a one-time key; nil for every other frame.
    private func sealedMessage(in frame: [UInt8]) -> SealedMessage? {
        try? SealedMessage(frame)  // nil: it is another kind of frame
    }
}
