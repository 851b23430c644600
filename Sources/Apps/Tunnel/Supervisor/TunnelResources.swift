internal import CTunnelShim
internal import Libc
internal import Platform

/// The device, the UDP sockets and the network of a tunnel, which outlive the engine that uses them.
///
/// While they exist the interface, its addresses and its routes do, so that packets without an engine wait or are lost and
/// never leave through another interface.
package final class TunnelResources: Sendable {
    package let device: TunnelDevice
    /// The port of the UDP sockets.
    package let port: UInt16
    /// The changes of the network that were left out, such as those of IPv6 on a system without it.
    package let skipped: [NetworkConfigurator.Skipped]
    private let sockets: [DescriptorOwner]
    private let configurator: NetworkConfigurator

    /// Creates everything, in the network namespace of the calling thread, which needs CAP_NET_ADMIN.
    ///
    /// Leftovers of a killed process are removed before. After an error nothing remains.
    package init(_ plan: TunnelPlan) throws(TunnelError) {
        let configurator = try NetworkConfigurator()
        var table: UInt32?
        if case .full(let number, _, _) = plan.network.routing { table = number }
        try configurator.removeLeftovers(interface: plan.network.interface, table: table)
        // Created before the routes: an engine without sockets would leave the system without a network.
        (sockets, port) = try Self.openSockets(plan)
        device = try TunnelDevice(creating: plan.network.interface, queues: plan.queues, wanted: plan.features)
        var network = plan.network
        network.interface = device.name
        skipped = try configurator.apply(network).skipped
        self.configurator = configurator
    }

    deinit { configurator.remove() }

    /// The descriptors of the device's queues, which remain those of this value.
    package var queues: [Int32] { (0..<device.queueCount).map { device.descriptor(ofQueue: $0) } }

    /// The descriptors of the UDP sockets: IPv4, and IPv6 where the system has it.
    package var socketDescriptors: [Int32] { sockets.map(\.descriptor) }

    /// Changes the MTU of the interface.
    package func setMTU(_ mtu: Int) throws(TunnelError) { try configurator.setMTU(mtu) }

    /// Undoes the changes of addresses, routes and rules; the interface ends with the last reference to its device.
    package func remove() { configurator.remove() }

    /// Opens one socket for each family on the same port.
    private static func openSockets(_ plan: TunnelPlan) throws(TunnelError) -> ([DescriptorOwner], UInt16) {
        var port = plan.port
        let first = unsafe ct_udp_open(4, plan.mark, &port)
        guard first >= 0 else { throw .portNotBound(port: plan.port, code: -first) }
        var sockets = [DescriptorOwner(first)]
        let second = unsafe ct_udp_open(6, plan.mark, &port)
        if second >= 0 {
            sockets.append(DescriptorOwner(second))
        } else if second != -EAFNOSUPPORT, second != -EADDRNOTAVAIL {
            throw .portNotBound(port: port, code: -second)
        }
        return (sockets, port)
    }
}
