/// The properties of a device that are active; each one is missing separately where the kernel lacks it.
package struct DeviceFeatures: Equatable, Sendable {
    /// Whether each frame begins with a ``VirtualHeader``.
    package var hasVirtualHeader: Bool
    /// Whether the device has several queues.
    package var hasQueues: Bool
    package var offloads: OffloadSet

    package init(hasVirtualHeader: Bool = true, hasQueues: Bool = true, offloads: OffloadSet = .all) {
        self.hasVirtualHeader = hasVirtualHeader
        self.hasQueues = hasQueues
        self.offloads = offloads
    }

    /// The features to try in turn: the wanted ones first, then those with less.
    var attempts: [Self] {
        var attempts = [self]
        if hasVirtualHeader, hasQueues {
            attempts.append(Self(hasVirtualHeader: true, hasQueues: false, offloads: offloads))
        }
        if hasVirtualHeader { attempts.append(Self(hasVirtualHeader: false, hasQueues: hasQueues, offloads: [])) }
        if hasVirtualHeader || hasQueues {
            attempts.append(Self(hasVirtualHeader: false, hasQueues: false, offloads: []))
        }
        return attempts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
