internal import Database
internal import Essentials
internal import Identity
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform
internal import Transport

extension RunarError {
    /// Any error that this library throws, with a code, a message and a context.
    public init(_ error: any Error) {
        switch error {
        case let error as RunarError: self = error
        case let error as NodeError: self = .failure(Self.code(of: error), message: "\(error)")
        case let error as KeychainError: self = .failure(Self.code(of: error), message: "\(error)")
        case let error as RunarKeychainError: self = .failure(.keychain, message: "\(error)")
        case let error as StorageError: self = .failure(.storage, message: "\(error)")
        case let error as DataDirectoryError: self = .failure(Self.code(of: error), message: "\(error)")
        case let error as FileError: self = .failure(.io, message: "\(error)")
        case let error as TransportError: self = .failure(.network, message: "\(error)")
        case let error as TopicPathError: self = .failure(.invalidPath, message: "\(error)")
        case let error as EventTooLarge: self = .failure(.tooLarge, message: "\(error)")
        case let error as NetworkError: self = .failure(Self.code(of: error), message: "\(error)")
        case let error as ConnectionError: self = .failure(.invalidParameters, message: "\(error)")
        case let error as IdentityError: self = .failure(.invalidParameters, message: "\(error)")
        case is CancellationError: self = .failure(.cancelled, message: "the call was cancelled")
        case let error as EncodingError: self = .encodingError(error)
        case let error as DecodingError: self = .decodingError(error)
        default: self = .failure(.unknown, message: Self.text(of: error))
        }
    }

    private static func code(of error: NodeError) -> RunarErrorCode {
        switch error {
        case .noAddress: .noAddress
        case .unreachable: .unreachable
        case .banned: .refused
        case .noSharedNetwork, .notAMember: .notAMember
        case .refusedByPeer(_, CloseCode.tooManyPeers.explanation): .tooManyPeers
        case .refusedByPeer, .refused, .declined: .refused
        case .fileRefused(_, .noRoom), .fileRefused(_, .notStored): .notStored
        case .interrupted: .interrupted
        case .timedOut, .fileRefused(_, .unanswered): .timedOut
        case .tooLarge: .tooLarge
        case .noListener, .fileRefused(_, .unattended): .noService
        case .receiverBusy, .tooMuchMail, .fileRefused(_, .busy): .busy
        case .damaged: .interrupted
        case .file: .io
        case .notRunning: .notRunning
        case .badToken: .badToken
        case .ownDevice, .notTheOwner, .networkIndexNeeded, .networkIndexRefused: .invalidParameters
        case .noLocalNetwork: .network
        }
    }

    private static func code(of error: NetworkError) -> RunarErrorCode {
        switch error {
        case .invalidSignature: .invalidParameters
        case .invalidToken: .badToken
        }
    }

    private static func code(of error: KeychainError) -> RunarErrorCode {
        switch error {
        case .denied: .keyDenied
        case .wrongPassphrase, .wrongKeyFile, .wrongKindOfSecret, .unsuitablePassphrase: .wrongSecret
        case .unsupported: .unsupported
        case .locked: .inUse
        case .foreign, .corrupted, .newerVersion: .damaged
        default: .keychain
        }
    }

    private static func code(of error: DataDirectoryError) -> RunarErrorCode {
        if case .inUse = error { .inUse } else { .io }
    }
}
