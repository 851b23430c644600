internal import Bytes
internal import Circle
internal import Database
internal import Foundation
internal import Identity
internal import ImageFiles
internal import NanoTDF
internal import Node
internal import NodeStore
internal import OneTimeKeys
package import Platform
internal import QRCode
internal import RunarNode
internal import SealedMessages
internal import Transport
internal import Traversal

extension CommandFailure {
    /// Finds the word and the exit status for whatever was thrown.
    package init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as NodeError: self.init(node: error)
        case let error as RunarError: self.init(library: error)
        case let error as JoinFailure: self.init(join: error)
        case let error as DHTError: self.init(hashTable: error)
        case let error as KeychainError: self.init(keychain: error)
        case let error as RunarKeychainError: self.init(devices: error)
        case let error as DataDirectoryError: self.init(home: error)
        case let error as StorageError: self.init(storage: error)
        case let error as FileError: self.init(file: error)
        case let error as TransportError: self.init(transport: error)
        case let error as TokenProblem: self.init("bad-token", .data, "the token is refused: \(error)")
        case let error as IdentityError: self.init("bad-data", .data, error.description)
        case let error as OneTimeKeyError: self.init("one-time-keys", .data, error.description)
        case let error as SealedMessageError: self.init(sealed: error)
        case let error as CircleError: self.init(circle: error)
        case let error as NanoTDFError: self.init("bad-nanotdf", .data, error.description)
        case let error as RecoveryPhraseError: self.init("bad-phrase", .data, "\(error)")
        case let error as TopicPathError: self.init("bad-topic", .usage, error.description)
        case let error as EventTooLarge: self.init("too-large", .data, error.description)
        case let error as DurationTextError: self.init("bad-duration", .usage, error.description)
        case QRCodeError.empty: self.init("no-text", .data, QRCodeError.empty.description)
        case let error as QRCodeError: self.init("too-large", .data, error.description)
        case let error as ImageFileError: self.init("bad-picture", .data, error.description)
        case let error as BytesError: self.init("bad-data", .data, error.description)
        case let error as STUNFailure: self.init(stun: error)
        case let error as NATTraversalError: self.init(traversal: error)
        case let error as HostNameError: self.init("unknown-host", .unavailable, error.description)
        case let error as DatagramError: self.init(datagram: error)
        case is CancellationError: self.init("cancelled", .tryAgain, "the command was cancelled before it was done")
        default: self.init("internal", .software, "unexpected: \(error)")
        }
    }

    private init(sealed error: SealedMessageError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .noKeys: ("no-one-time-keys", .noInput)
            case .notConnected: ("no-shared-network", .unavailable)
            case .notReceived: ("no-listener", .unavailable)
            case .exchangeFailed: ("exchange-failed", .tryAgain)
            case .managerExists: ("one-time-keys-in-use", .tryAgain)
            case .wrongSafetyNumber: ("wrong-safety-number", .data)
            case .noServiceKey: ("no-service-key", .noInput)
            case .peerHasNoKey: ("peer-has-no-key", .data)
            }
        self.init(code, status, error.description)
    }

    private init(circle error: CircleError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .malformed, .invalidSignature: ("bad-card", .data)
            case .tooLong: ("too-large", .data)
            case .noProfile: ("no-profile", .noInput)
            case .ownCard: ("own-card", .data)
            case .unknownPerson: ("no-such-person", .data)
            case .unknownThought: ("no-such-thought", .data)
            case .notTrusted: ("not-trusted", .notPermitted)
            case .unknownStream: ("no-such-stream", .data)
            case .notJoined: ("not-joined", .notPermitted)
            case .notAllowed: ("not-allowed", .notPermitted)
            case .blocked: ("blocked", .notPermitted)
            case .deviceOfAnother: ("device-of-another", .data)
            case .clockAhead: ("clock-ahead", .data)
            case .deviceNotReady: ("device-not-ready", .unavailable)
            case .hasCircle: ("has-circle", .notPermitted)
            case .unknownHome: ("no-such-peer", .data)
            case .repeatedHome: ("repeated-home", .data)
            case .wrongSafetyNumber: ("wrong-safety-number", .data)
            case .managerExists: ("circle-in-use", .tryAgain)
            }
        let advice = error == .noProfile ? " with `runar circle profile NAME`" : ""
        self.init(code, status, error.description + advice)
    }

    private init(node error: NodeError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .ownDevice: ("own-device", .data)
            case .noAddress: ("no-address", .unavailable)
            case .unreachable: ("unreachable", .unavailable)
            case .banned: ("banned", .notPermitted)
            case .noSharedNetwork: ("no-shared-network", .unavailable)
            case .refusedByPeer: ("refused-by-peer", .notPermitted)
            case .refused: ("peer-refused", .notPermitted)
            case .interrupted: ("interrupted", .tryAgain)
            case .timedOut: ("timed-out", .tryAgain)
            case .tooLarge: ("too-large", .data)
            case .noListener: ("no-listener", .unavailable)
            case .receiverBusy: ("receiver-busy", .tryAgain)
            case .tooMuchMail: ("too-much-mail", .tryAgain)
            case .declined: ("declined", .notPermitted)
            case .fileRefused(_, .noRoom): ("no-room", .tryAgain)
            case .fileRefused(_, .notStored): ("not-stored", .tryAgain)
            case .fileRefused(_, .busy): ("receiver-busy", .tryAgain)
            case .fileRefused(_, .unanswered): ("unanswered", .tryAgain)
            case .fileRefused(_, .unattended): ("unattended", .unavailable)
            case .damaged: ("damaged", .tryAgain)
            case .file: ("file", .inputOutput)
            case .notRunning: ("not-running", .unavailable)
            case .badToken: ("bad-token", .data)
            case .notAMember: ("not-a-member", .notPermitted)
            case .notTheOwner: ("not-the-owner", .notPermitted)
            case .networkIndexNeeded: ("index-needed", .usage)
            case .networkIndexRefused: ("bad-index", .usage)
            case .noLocalNetwork: ("no-local-network", .unavailable)
            }
        self.init(code, status, error.message)
    }

    private init(library error: RunarError) {
        let status: ExitStatus =
            switch error.kind {
            case .noService, .noAddress, .unreachable, .notRunning: .unavailable
            case .noAction, .noOneTimeKeys: .noInput
            case .serviceNotRunning, .deadline, .cancelled, .busy, .timedOut, .interrupted, .inUse, .keyExchangeFailed,
                .notStored:
                .tryAgain
            case .tooLarge, .badPayload, .badToken, .damaged, .oneTimeKeyUsed, .oneTimeKeyNotFound, .notAuthentic,
                .wrongSafetyNumber:
                .data
            case .notAMember, .refused, .keyDenied, .wrongSecret: .notPermitted
            case .invalidParameters, .invalidPath, .invalidText: .usage
            case .io, .storage: .inputOutput
            case .unsupported: .configuration
            default: .software
            }
        let word = error.kind.description.lowercased().replacing("_", with: "-")
        let about = error.context.isEmpty ? "" : " (\(error.context))"
        self.init(word, status, error.message + about)
    }

    private init(join error: JoinFailure) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .unknown: ("invitation-unknown", .data)
            case .expired: ("invitation-expired", .data)
            case .used: ("invitation-used", .data)
            case .burnt: ("invitation-burnt", .data)
            case .withdrawn: ("invitation-withdrawn", .data)
            case .own: ("invitation-own", .data)
            case .declined: ("join-declined", .notPermitted)
            case .revoked: ("revoked", .notPermitted)
            case .undecided: ("join-undecided", .tryAgain)
            case .underWay: ("join-under-way", .tryAgain)
            case .unreachable: ("inviter-unreachable", .unavailable)
            case .gone: ("inviter-gone", .unavailable)
            case .other: ("join-failed", .tryAgain)
            }
        let advice = error == .revoked ? ", which `runar keys renew-device` makes" : ""
        self.init(code, status, "\(error)\(advice)")
    }

    private init(hashTable error: DHTError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .timedOut: ("timed-out", .tryAgain)
            case .isolated: ("no-member-reachable", .unavailable)
            case .valueTooLarge: ("too-large", .data)
            case .invalidKey: ("bad-key", .data)
            case .invalidLifetime: ("bad-lifetime", .usage)
            case .conflict: ("conflict", .notPermitted)
            case .overQuota: ("over-quota", .notPermitted)
            case .clockDiffers: ("clock-differs", .configuration)
            case .notStored: ("state", .inputOutput)
            case .notAMember: ("not-a-member", .notPermitted)
            case .tooManyRequests, .stopped: ("busy", .tryAgain)
            case .switchedOff: ("switched-off", .configuration)
            case .signingFailed: ("signing-failed", .software)
            }
        var message = "\(error)"
        if case .conflict(let current?) = error {
            let time = LocalTime(version: current.version)
            message = "\(current.writer.short) stored another value at \(time): read it again first"
        }
        self.init(code, status, message)
    }

    private init(keychain error: KeychainError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .wrongPassphrase: (Self.wrongPassphrase, .notPermitted)
            case .wrongKeyFile: ("wrong-key-file", .notPermitted)
            case .wrongKindOfSecret: ("wrong-kind-of-secret", .notPermitted)
            case .denied: ("denied", .notPermitted)
            case .notFound: ("no-vault", .configuration)
            case .exposed: ("exposed", .configuration)
            case .alreadyExists: ("exists", .cannotCreate)
            case .locked: ("in-use", .tryAgain)
            case .corrupted, .foreign, .newerVersion: ("bad-vault", .data)
            case .unsuitablePassphrase, .invalidKey, .invalidKeyId: ("unsuitable", .data)
            case .tooManyKeys: ("full", .cannotCreate)
            default: ("vault", .inputOutput)
            }
        self.init(code, status, error.description)
    }

    private init(devices error: RunarKeychainError) {
        let (code, status): (String, ExitStatus) =
            switch error {
            case .rootKeyExists: ("exists", .cannotCreate)
            case .noRootKey: ("no-root-key", .notPermitted)
            case .networkIndexUnknown: ("index-needed", .usage)
            case .noNetworkKey: ("not-the-owner", .notPermitted)
            case .notForThisDevice: ("other-device", .data)
            case .notAskedFor: ("not-asked", .data)
            case .foreignAuthority: ("foreign-authority", .notPermitted)
            case .notInForce: ("not-in-force", .data)
            case .badCertificate: ("bad-certificate", .data)
            }
        self.init(code, status, "\(error)")
    }

    private init(home error: DataDirectoryError) {
        switch error {
        case .inUse: self.init("in-use", .tryAgain, error.description)
        case .file(let inner): self.init(file: inner)
        default: self.init("home", .configuration, error.description)
        }
    }

    private init(storage error: StorageError) {
        switch error {
        case .corrupted, .foreign, .lost: self.init("bad-state", .data, error.description)
        case .newerSchema: self.init("newer-state", .data, error.description)
        case .busy: self.init("in-use", .tryAgain, error.description)
        case .exposed: self.init("exposed", .configuration, error.description)
        case .invalid: self.init("bad-data", .data, error.description)
        default: self.init("state", .inputOutput, error.description)
        }
    }

    package init(file error: FileError) {
        switch error.code {
        case SystemErrors.notFound: self.init("no-file", .noInput, error.description)
        case SystemErrors.accessDenied: self.init("no-access", .notPermitted, error.description)
        default: self.init("file", .inputOutput, error.description)
        }
    }

    private init(transport error: TransportError) {
        switch error {
        case .initializationFailed: self.init("no-socket", .unavailable, error.description)
        case .timedOut: self.init("timed-out", .tryAgain, error.description)
        default: self.init("unreachable", .unavailable, error.description)
        }
    }

    private init(stun error: STUNFailure) {
        let code =
            switch error {
            case .noAnswer: "no-answer"
            case .refused: "refused-by-server"
            case .notUnderstood, .noAddress: "bad-answer"
            }
        self.init(code, .unavailable, error.description)
    }

    private init(traversal error: NATTraversalError) {
        switch error {
        case .noServer: self.init("no-stun-server", .usage, error.description)
        case .noAnswer: self.init("no-answer", .unavailable, error.description)
        case .wrongPort, .badAddress: self.init("bad-address", .usage, error.description)
        }
    }

    private init(datagram error: DatagramError) {
        let code =
            switch error {
            case .notBound, .noDescriptors, .noThread: "no-socket"
            case .notSent: "unreachable"
            }
        self.init(code, .unavailable, error.description)
    }
}
