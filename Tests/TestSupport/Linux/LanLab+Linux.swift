#if os(Linux)
internal import Foundation

/// A switch and hosts around it, each a network namespace of this machine, that are gone with the last reference.
///
/// Hosts are numbered from 1; host N has 10.77.0.N on `eth0`, an IPv6 link-local address, no route to anywhere else and
/// no name server. Needs root and `ip`: ask ``obstacle`` first.
package final class LanLab: Sendable {
    /// What `ip` said when it refused.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Not everybody's PATH has the folders of the system's administration.
    private static let searchPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin"
    /// The process's number in all names tells whose namespaces are left over.
    private static let prefix = "runar-lab-"
    private let name: String
    private let hostCount: Int
    private let isWired: Bool

    /// Why there can be no lab here, or nil.
    package static let obstacle: String? = {
        guard geteuid() == 0 else { return "network namespaces need root" }
        do {
            removeLeftovers()
            _ = try LanLab(hosts: 1)
            return nil
        } catch {
            return "no network namespaces here: \(error)"
        }
    }()

    /// Builds a network of `hosts` hosts; without wires each has only its loopback interface.
    package init(hosts: Int, isWired: Bool = true) throws {
        name = "\(Self.prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
        hostCount = hosts
        self.isWired = isWired
        if isWired {
            try Self.ip("netns add \(switchNamespace)")
            try Self.ip("-n \(switchNamespace) link add br0 type bridge mcast_snooping 1")
            try Self.ip("-n \(switchNamespace) link set br0 up")
        }
        for host in 1...hosts {
            try Self.ip("netns add \(namespace(of: host))")
            try Self.ip("-n \(namespace(of: host)) link set lo up")
            if isWired { try addInterface(of: host) }
        }
    }

    deinit {
        for space in (isWired ? [switchNamespace] : []) + (1...hostCount).map(namespace(of:)) {
            try? Self.ip("netns delete \(space)")  // a lab that was never complete
        }
    }

    private func namespace(of host: Int) -> String { "\(name)-h\(host)" }

    /// The beginning of a command line that runs the rest of it on a host; its first word is a path.
    package func wrapper(on host: Int) -> [String] {
        ["/usr/bin/env", Self.searchPath, "ip", "netns", "exec", namespace(of: host)]
    }

    private var switchNamespace: String { "\(name)-switch" }

    /// Pulls a host's cable at the switch: the host sees that its link is gone.
    package func unplug(_ host: Int) throws {
        try Self.ip("-n \(switchNamespace) link set p\(host) down")
    }

    /// Puts the cable back.
    package func plug(_ host: Int) throws {
        try Self.ip("-n \(switchNamespace) link set p\(host) up")
    }

    /// Cuts a host off inside the switch: it sees nothing of it, but nothing passes any more.
    package func isolate(_ host: Int) throws {
        try Self.ip("-n \(switchNamespace) link set p\(host) nomaster")
    }

    /// Lets a host take part again.
    package func rejoin(_ host: Int) throws {
        try Self.ip("-n \(switchNamespace) link set p\(host) master br0")
    }

    /// Takes a host's network card out.
    package func removeInterface(of host: Int) throws {
        try Self.ip("-n \(namespace(of: host)) link delete eth0")
    }

    /// Gives a host another IPv4 address in place of the one that it has; nil takes it away.
    package func setAddress(of host: Int, to address: String?) throws {
        try Self.ip("-n \(namespace(of: host)) -4 address flush dev eth0")
        if let address {
            try Self.ip("-n \(namespace(of: host)) address add \(address)/24 dev eth0")
        }
    }

    /// Gives a host a network card and connects it; a later one has another number than an earlier one.
    package func addInterface(of host: Int) throws {
        let (space, port) = (namespace(of: host), "p\(host)")
        try Self.ip("-n \(switchNamespace) link add \(port) type veth peer name eth0 netns \(space)")
        try Self.ip("-n \(switchNamespace) link set \(port) master br0 up")
        try Self.ip("-n \(space) address add 10.77.0.\(host)/24 dev eth0")
        try Self.ip("-n \(space) link set eth0 up")
    }

    /// Takes the namespaces of processes away that were killed before they could.
    private static func removeLeftovers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/run/netns")) ?? []  // nobody made any yet
        for name in names where name.hasPrefix(prefix) {
            let owner = name.dropFirst(prefix.count).prefix { $0 != "-" }
            if !FileManager.default.fileExists(atPath: "/proc/\(owner)") {
                try? ip("netns delete \(name)")  // another process was quicker
            }
        }
    }

    /// Runs a command of `ip`, whose words have no spaces.
    private static func ip(_ command: String) throws {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [searchPath, "ip"] + command.split(separator: " ").map(String.init)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "ip \(command): \(text)")
        }
    }
}

extension ChildProcess {
    /// Starts an executable of the package on a host of the lab.
    package convenience init(_ name: String, arguments: [String], on host: Int, of lab: LanLab) throws {
        let program = Self.products.appending(path: name).path(percentEncoded: false)
        let command = lab.wrapper(on: host) + [program] + arguments
        try self.init(path: command[0], arguments: Array(command.dropFirst()))
    }
}
#endif
