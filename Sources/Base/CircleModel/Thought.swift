public import Essentials
public import Identity

/// A thought on this device, with its delivery.
public struct Thought: Hashable, Sendable, Identifiable {
    /// Its id on this device.
    public let id: UUID
    /// Its place in the order in which this device stored thoughts.
    public let number: UInt64
    /// Creator, stream, media type, time and content.
    public let model: ThoughtServiceModel
    /// The delivery to each device of the recipients; empty for a thought of another person.
    public let deliveries: [Delivery]

    package init(id: UUID, number: UInt64, model: ThoughtServiceModel, deliveries: [Delivery]) {
        self.id = id
        self.number = number
        self.model = model
        self.deliveries = deliveries
    }

    /// The id that other people see.
    public var publicID: PublicID { model.publicID }

    /// The progress of the least advanced delivery; nil for a thought of another person.
    public var state: DeliveryState? { deliveries.map(\.state).min() }
}

/// The delivery of a thought to one device.
public struct Delivery: Hashable, Sendable {
    /// The device.
    public let device: PeerId
    /// The progress.
    public let state: DeliveryState
    /// The number of members that hold the sealed thought, at most.
    public let holders: Int

    package init(device: PeerId, state: DeliveryState, holders: Int) {
        self.device = device
        self.state = state
        self.holders = holders
    }
}

/// The progress of a delivery, in the order of its steps.
public enum DeliveryState: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// The recipient refuses the thought because trust was revoked on either side, or this device cannot read it.
    case refused
    /// It expired before the device connected.
    case expired
    /// It waits for keys, or for a member that takes it.
    case waiting
    /// Members hold it.
    case stored
    /// The device has stored it.
    case delivered
    /// A person saw it.
    case opened

    /// Orders states by the progress of a delivery.
    public static func < (left: Self, right: Self) -> Bool { left.order < right.order }

    private var order: Int {
        switch self {
        case .refused: 0
        case .expired: 1
        case .waiting: 2
        case .stored: 3
        case .delivered: 4
        case .opened: 5
        }
    }
}
