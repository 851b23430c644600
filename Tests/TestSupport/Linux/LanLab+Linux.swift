#if os(Linux)
internal import Foundation

/// A switch and hosts around it, each a network namespace of this machine, removed with the last reference.
///
/// Hosts are numbered from 1; host N has 10.77.0.N on `eth0`, an IPv6 link-local address, no route to anywhere else and
/// no name server. Needs root and `ip`: ask ``obstacle`` first.
package final class LanLab: Sendable {
    private let spaces = NetworkSpaces()

    /// The reason why no lab can be made here, or nil.
    package static var obstacle: String? { NetworkSpaces.obstacle }

    /// Builds a network of `hosts` hosts; without wires each has only its loopback interface.
    package init(hosts: Int, isWired: Bool = true) throws {
        if isWired {
            try spaces.add(["switch"])
            try ip("-n \(switchNamespace) link add br0 type bridge mcast_snooping 1")
            try ip("-n \(switchNamespace) link set br0 up")
        }
        for host in 1...hosts {
            try spaces.add(["h\(host)"])
            if isWired { try addInterface(of: host) }
        }
    }

    private func namespace(of host: Int) -> String { spaces.space("h\(host)") }

    /// The beginning of a command line that runs the rest of it on a host; its first word is a path.
    package func wrapper(on host: Int) -> [String] {
        spaces.wrapper("h\(host)")
    }

    private var switchNamespace: String { spaces.space("switch") }

    /// Pulls a host's cable at the switch: the host loses its link.
    package func unplug(_ host: Int) throws {
        try ip("-n \(switchNamespace) link set p\(host) down")
    }

    /// Puts the cable back.
    package func plug(_ host: Int) throws {
        try ip("-n \(switchNamespace) link set p\(host) up")
    }

    /// Cuts a host off inside the switch: the host's link stays up, but no frame passes.
    package func isolate(_ host: Int) throws {
        try ip("-n \(switchNamespace) link set p\(host) nomaster")
    }

    /// Connects an isolated host again.
    package func rejoin(_ host: Int) throws {
        try ip("-n \(switchNamespace) link set p\(host) master br0")
    }

    /// Takes a host's network card out.
    package func removeInterface(of host: Int) throws {
        try ip("-n \(namespace(of: host)) link delete eth0")
    }

    /// Gives a host another IPv4 address in place of the one that it has; nil takes it away.
    package func setAddress(of host: Int, to address: String?) throws {
        try ip("-n \(namespace(of: host)) -4 address flush dev eth0")
        if let address {
            try ip("-n \(namespace(of: host)) address add \(address)/24 dev eth0")
        }
    }

    /// Gives a host a network card and connects it; a later one has another number than an earlier one.
    package func addInterface(of host: Int) throws {
        let (space, port) = (namespace(of: host), "p\(host)")
        try ip("-n \(switchNamespace) link add \(port) type veth peer name eth0 netns \(space)")
        try ip("-n \(switchNamespace) link set \(port) master br0 up")
        try ip("-n \(space) address add 10.77.0.\(host)/24 dev eth0")
        try ip("-n \(space) link set eth0 up")
    }

    private func ip(_ command: String) throws { try NetworkSpaces.run("ip \(command)") }
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
