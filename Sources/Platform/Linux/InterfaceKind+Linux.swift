#if os(Linux)
extension NetworkInterface {
    /// The kind of line behind the interface, as the kernel's driver reports it.
    package var kind: InterfaceKind {
        if isLoopback { return .loopback }
        let path = "/sys/class/net/\(name)/uevent"
        guard !name.contains("/"), let bytes = try? AtomicFile.read(path, limit: 4096)  // it was removed meanwhile
        else { return .other }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        if lines.contains("DEVTYPE=wlan") { return .wiFi }
        return lines.contains("DEVTYPE=wwan") ? .cellular : .other
    }

    /// The facts that the kernel states about the interface.
    var facts: InterfaceFacts {
        guard FilePath.isComponent(name) else { return InterfaceFacts() }
        let directory = "/sys/class/net/\(name)"
        func exists(_ entry: String) -> Bool {
            let path = "\(directory)/\(entry)"
            return (try? SystemFileSystem().status(of: path, followingLink: false)) != nil  // it was removed meanwhile
        }
        let link = (try? AtomicFile.read("\(directory)/iflink", limit: 64))  // it was removed meanwhile
            .flatMap { UInt32(String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) }
        return InterfaceFacts(isPhysical: exists("device"), isPort: exists("master"), link: link)
    }
}
#endif
