public import Failures

/// Why a key could not be stored or read.
///
/// No case carries anything secret.
public enum KeychainError: Error, Hashable, Sendable {
    /// The key could not be stored or removed; the text says why.
    case unableToStore(String)
    /// The storage could not be read; the text says why.
    case unableToRead(String)
    /// The id is empty, longer than 128 bytes or has other characters than printable ASCII.
    case invalidKeyId(String)
    /// The key is empty or longer than 4096 bytes.
    case invalidKey(byteCount: Int)
    /// No more keys fit.
    case tooManyKeys(limit: Int)
    /// The person refused.
    case denied
    /// This storage or this system cannot do what was asked.
    case unsupported(String)
    /// There is no vault at this path.
    case notFound(path: String)
    /// There is a file at this path already, and it was left alone.
    case alreadyExists(path: String)
    /// The passphrase does not open the vault.
    case wrongPassphrase(path: String)
    /// The key file does not open the vault.
    case wrongKeyFile(path: String)
    /// A passphrase was given for a vault with a key file, or the other way round; the text names what is needed.
    case wrongKindOfSecret(path: String, needed: String)
    /// The passphrase is empty or longer than 1024 bytes.
    case unsuitablePassphrase
    /// The file is no vault or key file at all.
    case foreign(path: String)
    /// The file is damaged; `location` says where.
    case corrupted(path: String, location: String)
    /// The vault was written by a newer version.
    case newerVersion(path: String, found: Int, supported: Int)
    /// Another process has the vault open.
    case locked(path: String, byProcess: Int32?)
    /// Other users can read the file.
    case exposed(path: String, mode: UInt32)
    /// The vault was closed.
    case closed
}

extension KeychainError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do about it.
    public var description: String {
        switch self {
        case .unableToStore(let why): "the keys could not be stored: \(why)"
        case .unableToRead(let why): "the keys could not be read: \(why)"
        case .invalidKeyId(let id):
            "\(Terminal.quoted(id.prefix(64))) cannot name a key: use 1 to 128 printable ASCII characters"
        case .invalidKey(let count): "a key of \(count) bytes cannot be stored: keys have 1 to 4096 bytes"
        case .tooManyKeys(let limit): "there are \(limit) keys already, which is the limit: delete some first"
        case .denied: "the key was not released: allow the access"
        case .unsupported(let what): "not possible here: \(what)"
        case .closed: "the key storage was closed: open it again"
        case .unsuitablePassphrase: "the passphrase cannot be used: it needs 1 to 1024 bytes"
        default: fileDescription
        }
    }

    private var fileDescription: String {
        switch self {
        case .notFound(let path): "there is no key vault at \(Terminal.quoted(path)): create one first"
        case .alreadyExists(let path): "\(Terminal.quoted(path)) exists already and was left alone: move it away first"
        case .wrongPassphrase(let path): "wrong passphrase for \(Terminal.quoted(path)): try again"
        case .wrongKeyFile(let path):
            "the key file does not open \(Terminal.quoted(path)): use the one that it was made with"
        case .wrongKindOfSecret(let path, let needed):
            "\(Terminal.quoted(path)) is opened with \(needed): give that instead"
        case .foreign(let path): "\(Terminal.quoted(path)) is not a file of this program: check the path"
        case .corrupted(let path, let location):
            "\(Terminal.quoted(path)) is damaged (\(location)): restore it from a backup, it was not changed"
        case .newerVersion(let path, let found, let supported):
            "\(Terminal.quoted(path)) has version \(found), this program reads up to \(supported): update the program"
        case .locked(let path, let process):
            "\(Terminal.quoted(path)) is in use by \(process.map { "process \($0)" } ?? "another process"): stop it first"
        case .exposed(let path, let mode):
            """
            other users have access to \(Terminal.quoted(path)) (mode \(String(mode & 0o7777, radix: 8))); close it \
            with: chmod 600 \(FilePath.shellQuoted(path))
            """
        default: "the key storage failed"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .wrongPassphrase: FailureCode("wrong-passphrase", .wrongSecret, .notPermitted)
        case .wrongKeyFile: FailureCode("wrong-key-file", .wrongSecret, .notPermitted)
        case .wrongKindOfSecret: FailureCode("wrong-kind-of-secret", .wrongSecret, .notPermitted)
        case .denied: FailureCode("denied", .keyDenied, .notPermitted)
        case .notFound: FailureCode("no-vault", .keychain, .configuration)
        case .exposed: FailureCode("exposed", .keychain, .configuration)
        case .alreadyExists: FailureCode("exists", .keychain, .cannotCreate)
        case .locked: FailureCode("in-use", .inUse, .tryAgain)
        case .corrupted, .foreign, .newerVersion: FailureCode("bad-vault", .damaged, .data)
        case .unsuitablePassphrase: FailureCode("unsuitable", .wrongSecret, .data)
        case .invalidKey, .invalidKeyId: FailureCode("unsuitable", .keychain, .data)
        case .tooManyKeys: FailureCode("full", .keychain, .cannotCreate)
        case .unsupported: FailureCode("vault", .unsupported, .inputOutput)
        case .unableToStore, .unableToRead, .closed: FailureCode("vault", .keychain, .inputOutput)
        }
    }
}
