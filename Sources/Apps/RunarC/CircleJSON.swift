internal import Circle
internal import RunarNode
internal import SealedMessages

/// A person of the circle, as programs in C read it.
struct PersonJSON: Encodable {
    let personId: String
    let name: String?
    let blurb: String?
    let trust: String
    let safetyNumber: String
    let isVerified: Bool
    let devices: [String]

    init(_ person: Person) {
        personId = person.id.text
        name = person.card?.profile.name
        blurb = person.card?.profile.blurb
        trust = person.trust.rawValue
        safetyNumber = person.safetyNumber.description
        isVerified = person.isVerified
        devices = (person.card?.devices ?? []).map(\.base64Encoded)
    }
}

/// A thought with its delivery, as programs in C read it.
struct ThoughtJSON: Encodable {
    /// The delivery of a thought to one device.
    struct DeviceDelivery: Encodable {
        let peerId: String
        let state: String
        let holders: Int

        init(_ delivery: Delivery) {
            peerId = delivery.device.base64Encoded
            state = delivery.state.rawValue
            holders = delivery.holders
        }
    }

    let number: UInt64
    let thoughtId: String
    let creatorId: String
    let streamId: String
    let mediaType: String
    let createdAt: UInt64
    let length: Int
    let text: String?
    let contentType: String?
    let fileName: String?
    let state: String?
    let deliveries: [DeviceDelivery]

    init(_ thought: Thought) {
        let model = thought.model
        number = thought.number
        thoughtId = thought.publicID.text
        creatorId = model.creatorPublicID.text
        streamId = model.streamPublicID.text
        mediaType = model.mediaType.rawValue
        createdAt = model.createdAtMilliseconds
        length = model.content.count
        text = model.text
        contentType = model.contentType
        fileName = model.fileName
        state = thought.state?.rawValue
        deliveries = thought.deliveries.map { DeviceDelivery($0) }
    }
}
