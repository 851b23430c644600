internal import CommandModel
internal import Concurrency
internal import Database
internal import Dispatch
internal import Identity
internal import IdentityStore
internal import NanoTDF
internal import Platform

extension IdentityDoctor {
    /// A disk with less room has a problem, in bytes.
    private static let roomLimit: UInt64 = 64 << 20
    /// A disk with less room has a warning, in bytes.
    private static let roomWarning: UInt64 = 1 << 30
    /// A clock that is behind a file by less does no harm, in seconds.
    private static let clockTolerance: UInt64 = 300
    /// 2024-01-01: an earlier time is certainly wrong.
    private static let earliestSeconds: UInt64 = 1_704_067_200

    static func time(_ seconds: UInt64) -> String { "\(LocalTime(seconds: seconds))" }

    /// The findings about the data directory, and the id of the key that signs tokens; nil if that is not known.
    func dataFindings() async -> ([IdentityFinding], key: String?) {
        let files = SystemFileSystem()
        let status = try? files.status(of: directory, followingLink: true)  // as if there were none
        guard let status, status.kind == .directory else {
            let finding = IdentityFinding.warning(
                "no-data",
                "there is no data at \(directory) yet",
                because: "the server makes it at its first start",
                advice: "start the server with `runar identity serve`, or check --data"
            )
            return ([clockFinding([]), finding], nil)
        }
        do throws(DataDirectoryError) {
            let opened = try DataDirectory(at: directory)
            let names = [IdentityServer.databaseName, IdentityServer.databaseName + "-wal", "audit.log"]
            let times = names.compactMap { name in
                try? files.status(of: opened.file(name), followingLink: false)?.modifiedSeconds  // a missing file
            }
            var findings = [
                IdentityFinding.ok("data-modes", "the data belongs to this user alone"), clockFinding(times),
            ]
            if let room = roomFinding() { findings.append(room) }
            if let finding = relyingPartyFinding(opened) { findings.append(finding) }
            findings.append(await databaseFinding(opened.file(IdentityServer.databaseName)))
            let (finding, key) = keyFinding(opened)
            return (findings + [finding].compactMap { $0 }, key)
        } catch {
            let finding = IdentityFinding.problem(
                "data-directory",
                "\(error)",
                because: "the server does not start",
                advice: "give the directory and its files to the user of the server, with modes 0700 and 0600"
            )
            return ([clockFinding([]), finding], nil)
        }
    }

    private func clockFinding(_ fileTimes: [UInt64]) -> IdentityFinding {
        let now = probe.wallSeconds()
        let newest = fileTimes.max() ?? 0
        guard now >= Self.earliestSeconds, now + Self.clockTolerance >= newest else {
            return .problem(
                "clock-behind",
                "the clock says \(Self.time(now))"
                    + (newest > now ? ", and data was written \(Self.time(newest))" : ", which is certainly wrong"),
                because: "tokens and sessions end at wrong times",
                advice: "set the clock"
            )
        }
        return .ok("clock", "the clock says \(Self.time(now)), and no file contradicts it")
    }

    private func roomFinding() -> IdentityFinding? {
        guard let room = probe.room(directory) else { return nil }
        let words = "\(ByteCountText.text(of: Double(room.available))) are free on the disk of the data"
        let advice = "free some, or move the data to a larger disk"
        if room.available < Self.roomLimit {
            return .problem("disk-full", words, because: "registrations will fail", advice: advice)
        }
        if room.available < Self.roomWarning {
            return .warning("disk-small", words, because: "registrations fail on a full disk", advice: advice)
        }
        return .ok("disk", words)
    }

    private func relyingPartyFinding(_ directory: DataDirectory) -> IdentityFinding? {
        do {
            try RelyingPartyFile(in: directory).check(configuration.rpId)
            return nil
        } catch {
            return .problem(
                "rp-id",
                "\(error)",
                because: "the server does not start",
                advice: "give the rpId with which the data was made"
            )
        }
    }

    private func databaseFinding(_ path: String) async -> IdentityFinding {
        let status = try? SystemFileSystem().status(of: path, followingLink: false)  // its directory can be read
        guard status != nil else {
            return .warning(
                "no-accounts",
                "there is no database yet",
                because: "the server makes it at its first start",
                advice: "start the server with `runar identity serve`, or check --data"
            )
        }
        do {
            let store = try IdentityStore(path: path)
            try await Self.aside { try store.verify() }
            let totals = try await store.totals()
            try store.close()
            return .ok("database", "the database is whole: \(totals.accounts) accounts, \(totals.credentials) passkeys")
        } catch {
            return .problem(
                "database",
                "\(error)",
                because: "accounts may be lost",
                advice: "stop the server, keep a copy of the data, and restore the last backup"
            )
        }
    }

    /// Runs a check of the whole file on a thread that may block.
    private static func aside(_ work: @escaping @Sendable () throws -> Void) async throws {
        let outcome = Promise<Result<Void, any Error>>()
        DispatchQueue.global().async { outcome.fulfil(Result { try work() }) }
        try await outcome.waitIgnoringCancellation().get()
    }

    /// Reads the keys of tokens, unless the first start has yet to make them.
    private func keyFinding(_ directory: DataDirectory) -> (IdentityFinding?, key: String?) {
        let files = SystemFileSystem()
        let paths = configuration.keyPaths
        var needed: [String] = []
        if paths.signing == nil { needed.append(directory.file("sign-key.pem")) }
        if paths.encoding == nil, paths.decoding == nil { needed.append(directory.file("token-key.pem")) }
        let areMade = needed.allSatisfy { path in
            (try? files.status(of: path, followingLink: false)).flatMap { $0 } != nil  // a missing file
        }
        guard areMade else { return (nil, nil) }
        do {
            let keys = try TokenKeyFiles(paths, in: directory).load(at: probe.wallSeconds())
            let id = String(decoding: keys.signing.publicKey.identifier, as: UTF8.self)
            return (.ok("keys", "the keys of tokens can be used"), id)
        } catch {
            let finding = IdentityFinding.problem(
                "keys",
                "\(error)",
                because: "the server does not start",
                advice: "name files with keys on P-256 in PEM, which this user can read"
            )
            return (finding, nil)
        }
    }
}
