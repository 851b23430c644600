/// The parts of a tunnel that a privileged process creates and keeps while engines come and go.
package struct TunnelPlan: Equatable, Sendable {
    package var network: TunnelNetwork
    /// The number of queues, each for one thread of the engine.
    package var queues: Int
    package var features: DeviceFeatures
    /// The UDP port, 0 for one of the kernel's choice.
    package var port: UInt16
    /// The mark of the engine's packets, which a full tunnel excludes; 0 for none.
    package var mark: UInt32

    package init(
        network: TunnelNetwork,
        queues: Int = 1,
        features: DeviceFeatures = DeviceFeatures(),
        port: UInt16 = 0,
        mark: UInt32 = 0
    ) {
        self.network = network
        self.queues = queues
        self.features = features
        self.port = port
        self.mark = mark
    }
}
