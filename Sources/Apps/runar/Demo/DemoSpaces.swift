internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Platform

/// The network namespaces of the demo's exit: a client, a gateway and a web server, each with interfaces of its own.
///
/// The client reaches the gateway alone, and the web server has no route to the client.
final class DemoSpaces: Sendable {
    /// A role with a namespace.
    enum Role: String, CaseIterable {
        case client, gateway, page
    }

    /// The gateway's address on the side of the client.
    static let gatewayAddress = "192.0.2.1"
    /// The gateway's address on the side of the web server, from which the packets of its clients come.
    static let uplinkAddress = "198.51.100.1"
    static let pageAddress = "198.51.100.2"
    static let uplink = "uplink"
    private static let device = "/dev/net/tun"
    /// The folders of `ip` and `nft`.
    private static let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"]
    private static let errorByteLimit = 4096

    /// The process id keeps the names of two demos apart.
    private let prefix = "runar-demo-\(ProcessInfo.processInfo.processIdentifier)-"

    /// The reason why this process cannot make them, with the next step; nil if it can try.
    static var obstacle: String? {
        guard Posix.user == 0 else { return "network namespaces need root: run `sudo runar demo`" }
        guard FileManager.default.fileExists(atPath: device) else {
            return "\(device) is missing: a tunnel needs Linux with the module tun"
        }
        for (program, package) in [("ip", "iproute2"), ("nft", "nftables")] where path(of: program) == nil {
            return "the program \(program) is missing: install \(package)"
        }
        return nil
    }

    private static func path(of program: String) -> String? {
        folders.map { FilePath.joining($0, program) }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The beginning of a command line that runs the rest of it in the namespace of a role.
    func wrapper(_ role: Role) -> [String] {
        [Self.path(of: "ip") ?? "ip", "netns", "exec", name(role)]
    }

    private func name(_ role: Role) -> String { prefix + role.rawValue }

    /// Makes the namespaces, and connects the client and the web server with the gateway.
    ///
    /// - Throws: ``CommandFailure`` with the message of `ip`.
    func make() async throws {
        let (client, gateway, page) = (name(.client), name(.gateway), name(.page))
        let spaces = Role.allCases.map { "ip netns add \(name($0)); ip -n \(name($0)) link set lo up" }
        try await Self.run(
            (spaces + [
                "ip -n \(client) link add eth0 type veth peer name clients netns \(gateway)",
                "ip -n \(page) link add eth0 type veth peer name \(Self.uplink) netns \(gateway)",
                "ip -n \(client) address add 192.0.2.2/24 dev eth0",
                "ip -n \(gateway) address add \(Self.gatewayAddress)/24 dev clients",
                "ip -n \(gateway) address add \(Self.uplinkAddress)/24 dev \(Self.uplink)",
                "ip -n \(page) address add \(Self.pageAddress)/24 dev eth0",
                "ip -n \(client) link set eth0 up", "ip -n \(gateway) link set clients up",
                "ip -n \(gateway) link set \(Self.uplink) up", "ip -n \(page) link set eth0 up",
                "ip netns exec \(gateway) sh -ec 'cd /proc/sys/net; echo 1 > ipv4/ip_forward; "
                    + "[ ! -e ipv6/conf/all/forwarding ] || echo 1 > ipv6/conf/all/forwarding'",
            ]).joined(separator: "\n")
        )
    }

    /// Removes the namespaces with their interfaces, also after an incomplete ``make()``.
    func remove() async {
        let commands = Role.allCases.map { "ip netns delete \(name($0)) || true" }
        try? await Self.run(commands.joined(separator: "\n"))  // none is left that can be removed
    }

    /// Runs a script of the shell up to the first command that fails.
    private static func run(_ script: String) async throws {
        // Of its own: after an interruption a half-made network must be completed before it is removed.
        try await Task {
            let preamble = "exec 2>&1; set -e; PATH=\(folders.joined(separator: ":"))\n"
            let sink = ChildProcess.Sink.bytes(limit: errorByteLimit, errors: 2)
            let child = try ChildProcess("/bin/sh", ["-c", preamble + script], sink: sink)
            let printed = try await child.output()
            guard try await child.waitForExit() != 0 else { return }
            var text = ""
            if case .bytes(let bytes) = printed { text = String(decoding: bytes, as: UTF8.self) }
            let reason = text.split(separator: "\n").first.map(String.init) ?? "a command failed"
            throw CommandFailure("no-namespaces", .unavailable, "the system refuses network namespaces: \(reason)")
        }.value
    }
}
