internal import CRunar
internal import Circle
internal import Concurrency
internal import NodeModel
internal import RunarNode
internal import SealedMessages

/// A subscription of a program in C to the events of the circle.
final class CircleSubscription: ProgramSubscription {
    private let target: CircleEventTarget
    private let gate = CallbackGate()
    private let running = Locked<Task<Void, Never>?>(nil)
    /// The node, which owns the subscription.
    private let node: WeakNode

    init(_ target: CircleEventTarget, node: NodeHandle) {
        self.target = target
        self.node = WeakNode(node)
    }

    /// Delivers each event from now on, until the subscription or the circle ends.
    func follow(_ circle: CircleManager) {
        let events = circle.events
        // Unstructured: it lives as long as the subscription.
        let task = Task {
            for await event in events { deliver(event, of: circle) }
        }
        running.withLock { $0 = task }
    }

    private func deliver(_ event: CircleEvent, of circle: CircleManager) {
        guard let node = self.node.value else { return }
        node.gate.pass {
            gate.pass {
                let keys = try? node.keyStores()  // nil: the node is freed, and no keys are shown
                if let report = CircleEventReport(event, of: circle, node.node, keys) { target.call(report) }
            }
        }
    }

    func end() {
        gate.close()
        let task = running.withLock { running in
            defer { running = nil }
            return running
        }
        task?.cancel()
        gate.wait()
    }
}

/// The callback of a program in C for the events of the circle.
@safe struct CircleEventTarget: @unchecked Sendable {
    let function: runar_circle_callback
    let context: UnsafeMutableRawPointer?

    func call(_ event: CircleEventReport) {
        CallbackThread.enter {
            unsafe withOptionalCString(event.personId) { person in
                unsafe withOptionalCString(event.change) { change in
                    unsafe event.json.withCString { json in
                        var shown = unsafe runar_circle_event()
                        unsafe shown.size = MemoryLayout<runar_circle_event>.size
                        unsafe shown.kind = event.kind
                        unsafe shown.person_id = person
                        unsafe shown.change = change
                        unsafe shown.json = json
                        unsafe function(context, &shown)
                    }
                }
            }
        }
    }
}

/// The fields of an event of the circle.
struct CircleEventReport {
    let kind: Int32
    let personId: String?
    let change: String?
    let json: String

    /// Describes an event; nil for those of streams and of own devices, for which C has no functions.
    init?(_ event: CircleEvent, of circle: CircleManager, _ node: RunarNode, _ keys: KeyStoreManager?) {
        switch event {
        case .trustChanged(let person, let change):
            let word = Self.word(for: change)
            self.init(RUNAR_CIRCLE_TRUST_CHANGED.rawValue, person.id, PersonReport(person, on: node, keys), word)
        case .profileChanged(let person):
            self.init(RUNAR_CIRCLE_PROFILE_CHANGED.rawValue, person.id, PersonReport(person, on: node, keys))
        case .thoughtReceived(let thought):
            let creator = thought.model.creatorPublicID
            let person = creator == circle.card?.publicID ? Self.recipient(of: thought, in: circle) : creator
            self.init(RUNAR_CIRCLE_THOUGHT_RECEIVED.rawValue, person, Self.report(thought, in: circle))
        case .deliveryChanged(let thought):
            let person = Self.recipient(of: thought, in: circle)
            self.init(RUNAR_CIRCLE_DELIVERY_CHANGED.rawValue, person, Self.report(thought, in: circle))
        case .streamChanged, .cardChanged: return nil
        }
    }

    private init(_ kind: UInt32, _ person: PublicID?, _ subject: some Encodable, _ change: String? = nil) {
        self.kind = Int32(bitPattern: kind)
        personId = person?.text
        self.change = change
        json = (try? RunarC.json(subject)) ?? "{}"  // nil: no field of a person or a thought fails to encode
    }

    /// The person of the conversation of an own thought; nil for a group.
    private static func recipient(of thought: Thought, in circle: CircleManager) -> PublicID? {
        let stream = thought.model.streamPublicID
        return circle.people.first { circle.conversation(with: $0.id) == stream }?.id
    }

    private static func report(_ thought: Thought, in circle: CircleManager) -> ThoughtReport {
        let stream = thought.model.streamPublicID
        let place = recipient(of: thought, in: circle).map { ConversationPlace.person($0) } ?? .stream(stream)
        return ThoughtReport(thought, in: place, PeopleNames(circle))
    }

    private static func word(for change: Trust.Change) -> String {
        switch change {
        case .requested: "requested"
        case .trusted: "trusted"
        case .declined: "declined"
        case .peerTrustRevoked: "revoked"
        }
    }
}
