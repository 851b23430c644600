internal import NodeCore
package import Platform

/// Why a receiver does not take a file although it was not declined.
public enum FileRefusal: Error, Hashable, Sendable, CaseIterable {
    /// The receiver's disk has no room for it.
    case noRoom
    /// The receiver cannot write it.
    case notStored
    /// Too many offers wait at the receiver for a decision, or it receives the same file already.
    case busy
}

extension FileRefusal: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .noRoom: "there is not enough room on its disk"
        case .notStored: "it cannot write the file to its directory"
        case .busy: "too many offers wait there for an answer, or the same file is on its way already"
        }
    }
}

extension FileRefusal {
    /// The refusal that the sender receives for a failure of this machine.
    package init(_ error: FileError) {
        switch error.code {
        case SystemErrors.noSpace, SystemErrors.overQuota, SystemErrors.tooLarge: self = .noRoom
        default: self = .notStored
        }
    }

    /// The code by which a stream is reset.
    var closeCode: CloseCode {
        switch self {
        case .noRoom: .noRoom
        case .notStored: .notStored
        case .busy: .receiverBusy
        }
    }
}

/// A file that a peer sent and that could not be stored on this device; nothing of it was kept.
public struct FileFailure: Hashable, Sendable {
    /// The offer that had been accepted.
    public let offer: FileOffer
    /// The reason that the sender receives.
    public let refusal: FileRefusal
    /// The failure in words, with the path.
    public let reason: String

    package init(offer: FileOffer, refusal: FileRefusal, reason: String) {
        self.offer = offer
        self.refusal = refusal
        self.reason = reason
    }
}
