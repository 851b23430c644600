internal import CQUICShim
internal import Identity

extension ru_addr {
    /// The engine's form of an address.
    init(_ address: SocketAddress) {
        self.init()
        let bytes = address.bytes
        family = bytes.count == 16 ? 6 : 4
        port = address.port
        scope = address.scope
        unsafe withUnsafeMutableBytes(of: &ip) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Our form of an address; nil when there is none.
    var socketAddress: SocketAddress? {
        var ip = ip
        let bytes = unsafe withUnsafeBytes(of: &ip) { unsafe [UInt8]($0.prefix(family == 6 ? 16 : 4)) }
        return family == 0 ? nil : SocketAddress(bytes: bytes, port: port, scope: scope)
    }
}
