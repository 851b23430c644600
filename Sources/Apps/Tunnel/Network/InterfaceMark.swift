internal import Libc

/// The alias of our interfaces, which names the process that created one: an interface of a dead process is a leftover.
struct InterfaceMark: Equatable, Sendable {
    private static let prefix = "runar-tunnel "

    let process: Int32

    init(process: Int32 = getpid()) { self.process = process }

    /// Reads an alias; nil if it is not one of ours.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let process = Int32(text.dropFirst(Self.prefix.count)), process > 0 else {
            return nil
        }
        self.process = process
    }

    var text: String { Self.prefix + "\(process)" }

    /// Whether the process exists.
    var isAlive: Bool { kill(process, 0) == 0 || errno == EPERM }
}
