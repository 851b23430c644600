/// The kind of line behind a network interface.
package enum InterfaceKind: Hashable, Sendable {
    /// It leads back to this machine.
    case loopback
    /// Wi-Fi.
    case wiFi
    /// A mobile network.
    case cellular
    /// A cable, a tunnel, or a kind that the system does not report.
    case other
}
