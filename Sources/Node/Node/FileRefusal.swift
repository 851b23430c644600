internal import NodeCore
package import Platform

/// Why a receiver does not take a file although it was not declined.
public enum FileRefusal: Error, Hashable, Sendable, CaseIterable {
    /// The receiver's disk has no room for it.
    case noRoom
    /// The receiver cannot write it.
    case notStored
    /// The user of the receiver was asked and did not answer in time.
    case unanswered
    /// The receiver has no user or program that decides about files.
    case unattended
    /// Too many offers wait at the receiver for a decision, or it receives the same file already.
    case busy
}

extension FileRefusal: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch self {
        case .noRoom: "there is not enough room on its disk"
        case .notStored: "it cannot write the file to its directory"
        case .unanswered: "no one answered there within \(Self.answerPatience.components.seconds) s"
        case .unattended: "no person or program there decides about files"
        case .busy: "too many offers wait there for an answer, or the same file is on its way already"
        }
    }
}

extension FileRefusal {
    /// The time that the user of a receiver has to decide about a file.
    package static let answerPatience = Duration.seconds(120)

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
        case .unanswered: .offerUnanswered
        case .unattended: .offerUnattended
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
