internal import BlindTokens
internal import Bytes
internal import CommandModel
internal import Concurrency
internal import Essentials
internal import Identity
internal import Platform
internal import WebClient

/// The keys of an issuer under which a gateway accepts tokens, with those of its former directories.
///
/// A key that disappears from the directory is accepted until the tokens of the present epoch are no longer: clients may
/// have wallets of it. The keys are kept in a file, so that a gateway starts while its issuer cannot be reached.
final class IssuerKeys: Sendable {
    /// The keys, as they are stored.
    private struct Record: Codable {
        struct Former: Codable {
            /// The SubjectPublicKeyInfo in base64url.
            let key: String
            /// The first second since 1970 at which the key is no longer accepted.
            let until: UInt64
        }

        /// The issuer's directory in base64url, as it was received.
        let directory: String
        let former: [Former]
    }

    private struct State {
        var bytes: [UInt8] = []
        var directory: IssuerDirectory?
        var former: [TokenVerifier.AcceptedKey] = []
        /// The verifier with these keys, and the epochs for which it was made; nil after a change of the keys.
        var prepared: (epochs: [ExitEpoch], verifier: TokenVerifier)?

        /// Removes the former keys that are no longer accepted.
        mutating func expire(at now: UInt64) { former.removeAll { $0.acceptedUntil.map { $0 <= now } ?? false } }
    }

    /// The pause between two requests to the issuer while keys are known.
    static let period = Duration.seconds(600)
    private static let fileByteLimit = 1 << 20

    private let issuerName: String
    private let exit: String
    private let path: String
    private let state = Locked(State())

    /// Reads the keys of the last run from the file at `path`; a file that cannot be read counts as none.
    init(issuerName: String, exit: String, path: String, at now: UInt64) {
        self.issuerName = issuerName
        self.exit = exit
        self.path = path
        guard let record = try? Self.read(path) else { return }  // the issuer is asked in any case
        state.withLock { state in
            state = record
            state.expire(at: now)
        }
    }

    /// Whether a directory of the issuer was read.
    var hasKeys: Bool { state.withLock { $0.directory != nil } }

    /// The verifier of tokens at `now`, in seconds since 1970, which is made once for each change of keys or epochs.
    ///
    /// - Throws: ``GatewayError/noIssuerKeys`` before the first directory.
    func verifier(at now: UInt64) throws -> TokenVerifier {
        let epochs = ExitEpoch.accepted(at: now)
        return try state.withLock { state in
            if let prepared = state.prepared, prepared.epochs == epochs { return prepared.verifier }
            guard let directory = state.directory else { throw GatewayError.noIssuerKeys }
            // Keys are accepted until the tokens of an epoch are not, so they expire with a change of the epochs.
            state.expire(at: now)
            let keys = directory.keys.map { TokenVerifier.AcceptedKey($0.publicKey) } + state.former
            let verifier = try TokenVerifier(issuerName: issuerName, originInfo: exit, keys: keys, at: now)
            state.prepared = (epochs, verifier)
            return verifier
        }
    }

    /// The value of `WWW-Authenticate` for the present epoch; nil before the first directory.
    func challenge(at now: UInt64) -> String? {
        guard let directory = state.withLock({ $0.directory }),
            let key = try? directory.key(at: now),  // nil: the issuer lists future keys only
            let challenge = try? ExitEpoch(at: now).challenge(issuerName: issuerName, originInfo: exit)  // as above
        else { return nil }
        return PrivateTokenHeader.authenticateValue([PrivateTokenChallenge(challenge, key: key)])
    }

    /// Takes a directory of the issuer over, and stores it.
    ///
    /// - Throws: ``BlindTokenError`` for one that cannot be read, ``FileError``; the former one stays in use.
    func replace(with bytes: [UInt8], at now: UInt64) throws {
        let directory = try IssuerDirectory(json: bytes)
        let kept = Set(directory.keys.map(\.publicKey.keyId))
        let until = ExitEpoch(at: now).graceEnd
        state.withLock { state in
            let removed = state.directory?.keys.filter { !kept.contains($0.publicKey.keyId) } ?? []
            state.former.removeAll { kept.contains($0.publicKey.keyId) }
            state.former += removed.map { TokenVerifier.AcceptedKey($0.publicKey, acceptedUntil: until) }
            state.directory = directory
            state.bytes = bytes
            state.expire(at: now)
            state.prepared = nil
        }
        try store()
    }

    private func store() throws {
        let state = state.withLock { $0 }
        let record = Record(
            directory: Base64URL.encode(state.bytes),
            former: state.former.map { key in
                Record.Former(
                    key: Base64URL.encode(key.publicKey.subjectPublicKeyInfo),
                    until: key.acceptedUntil ?? 0
                )
            }
        )
        try AtomicFile.write(JSONText.bytes(record), to: path)
    }

    private static func read(_ path: String) throws -> State? {
        guard let bytes = try AtomicFile.read(path, limit: fileByteLimit) else { return nil }
        let record = try JSONText.decode(Record.self, from: bytes)
        var state = State()
        state.bytes = try Base64URL.decode(record.directory)
        state.directory = try IssuerDirectory(json: state.bytes)
        state.former = try record.former.map { former in
            TokenVerifier.AcceptedKey(
                try TokenPublicKey(subjectPublicKeyInfo: Base64URL.decode(former.key)),
                acceptedUntil: former.until
            )
        }
        return state
    }
}
