#if os(Linux)
internal import Concurrency
internal import Foundation

/// Network namespaces of this machine with a name that no other lab has, removed with the last reference.
///
/// Needs root and `ip`: ask ``obstacle`` first.
package final class NetworkSpaces: Sendable {
    /// The reason why the system refused a command or an interface.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Some users' PATH lacks the folders of the system's administration.
    private static let searchPath =
        "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? ""):/usr/sbin:/usr/bin:/sbin:/bin"
    /// The process id in each name reveals the namespaces that dead processes left.
    private static let prefix = "runar-lab-"
    private let name = "\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
    private let made = Locked<[String]>([])

    /// The reason why none can be made here, or nil.
    package static let obstacle: String? = {
        guard geteuid() == 0 else { return "network namespaces need root" }
        do {
            removeLeftovers()
            try NetworkSpaces().add(["trial"])
            return nil
        } catch {
            return "no network namespaces here: \(error)"
        }
    }()

    package init() {}

    deinit {
        let names = made.withLock { $0 }
        _ = try? Self.run(names.map { "ip netns delete \($0)" }.joined(separator: "\n"))  // never complete, then
    }

    /// Makes namespaces for these roles, each with its loopback interface up.
    package func add(_ roles: [String]) throws {
        for role in roles {
            made.withLock { $0.append(space(role)) }
            try Self.run("ip netns add \(space(role)); ip -n \(space(role)) link set lo up")
        }
    }

    /// The full name of the namespace of a role.
    package func space(_ role: String) -> String { "\(name)-\(role)" }

    /// The beginning of a command line that runs the rest of it in the namespace of a role; its first word is a path.
    package func wrapper(_ role: String) -> [String] {
        ["/usr/bin/env", Self.searchPath, "ip", "netns", "exec", space(role)]
    }

    /// Runs a script of the shell, which ends at the first command that fails.
    @discardableResult
    package static func run(_ script: String) throws -> String {
        let (input, output) = (Pipe(), Pipe())
        let process = try SpawnedProcess(
            "/usr/bin/env",
            [searchPath, "/bin/sh", "-e"],
            input: input.fileHandleForReading,
            output: output.fileHandleForWriting,
            errors: output.fileHandleForWriting
        )
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard process.waitUntilExit() == 0 else { throw Failure(description: "\(text)in: \(script)") }
        return text
    }

    /// Takes the namespaces of processes away that were killed before they could.
    private static func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? []  // nil: none yet
        for name in names where name.hasPrefix(prefix) {
            let owner = name.dropFirst(prefix.count).prefix { $0 != "-" }
            if !FileManager.default.fileExists(atPath: "/proc/\(owner)") {
                _ = try? run("ip netns delete \(name)")  // another process was quicker
            }
        }
    }
}
#endif
