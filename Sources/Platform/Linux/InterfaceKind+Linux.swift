#if os(Linux)
extension NetworkInterface {
    /// The kind of line behind the interface, as the kernel's driver reports it.
    package var kind: InterfaceKind {
        if isLoopback { return .loopback }
        let path = "/sys/class/net/\(name)/uevent"
        guard !name.contains("/"), let bytes = try? AtomicFile.read(path, limit: 4096)  // it went while we looked
        else { return .other }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        if lines.contains("DEVTYPE=wlan") { return .wiFi }
        return lines.contains("DEVTYPE=wwan") ? .cellular : .other
    }
}
#endif
