// The functions of runar_circle.h, which documents them; the compiler checks each against its prototype.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import CRunar
internal import Circle
internal import CommandModel
internal import Essentials
internal import NodeModel
internal import RunarNode
internal import SealedMessages

/// The most thoughts that one call lists or notes: each is decrypted, and may have 192 KiB.
private let thoughtLimit = 256
/// The number of thoughts that are listed by default.
private let defaultThoughtCount = 50

/// Returns a body for ``begin(_:finish:_:)`` that uses the circle of a node.
private func withCircle<Success: Sendable>(
    of node: OpaquePointer?,
    _ body: @escaping @Sendable (CircleManager) async throws -> Success
) throws(RunarError) -> @Sendable (RunarNode) async throws -> Success {
    let handle = try unsafe found(node)
    return { _ in try await body(handle.circle()) }
}

/// Begins something with a person of the circle.
private func withPerson(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ body: @escaping @Sendable (CircleManager, PublicID) async throws -> Void
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let person = try unsafe personId(person)
        return try unsafe withCircle(of: node) { circle in
            try await body(circle, person)
            return nil
        }
    }
}

private func personId(_ person: UnsafePointer<CChar>?) throws(RunarError) -> PublicID {
    try Arguments.publicId(try unsafe Arguments.text(person, "person_id"), "person_id")
}

// MARK: - People

@c @implementation
public func runar_node_open_circle(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        try unsafe withCircle(of: node) { (_: CircleManager) -> String? in nil }
    }
}

@c @implementation
public func runar_node_set_profile(
    _ node: OpaquePointer?,
    _ name: UnsafePointer<CChar>?,
    _ blurb: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let name = try unsafe Arguments.text(name, "name")
        let blurb = try unsafe Arguments.optionalText(blurb, "blurb")
        return try unsafe withCircle(of: node) { circle in
            try await circle.setProfile(name: name, blurb: blurb)
            return circle.card?.publicID.text
        }
    }
}

@c @implementation
public func runar_node_get_card(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        try unsafe withCircle(of: node) { circle in
            guard let card = circle.card else { throw CircleError.noProfile }
            return card.text
        }
    }
}

@c @implementation
public func runar_node_get_people(
    _ node: OpaquePointer?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let handle = try unsafe found(node)
        return try unsafe withCircle(of: node) { circle in
            let keys = try? handle.keyStores()  // nil: the node is freed, and no keys are shown
            return JSONText.encode(circle.people.map { PersonReport($0, on: handle.node, keys) })
        }
    }
}

@c @implementation
public func runar_node_invite_device(
    _ node: OpaquePointer?,
    _ peer: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let peer = try Arguments.peerId(unsafe Arguments.text(peer, "peer_id"))
        return try unsafe withCircle(of: node) { circle in
            try await circle.invite(peer)
            return nil
        }
    }
}

@c @implementation
public func runar_node_invite_card(
    _ node: OpaquePointer?,
    _ card: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let text = try unsafe Arguments.text(card, "card")
        return try unsafe withCircle(of: node) { circle in
            let person = try await circle.invite(ProfileCard(text: text))
            return person.text
        }
    }
}

@c @implementation
public func runar_node_accept_person(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe withPerson(node, person, callback, context) { circle, person in try await circle.accept(person) }
}

@c @implementation
public func runar_node_decline_person(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe withPerson(node, person, callback, context) { circle, person in try await circle.decline(person) }
}

@c @implementation
public func runar_node_verify_person(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ number: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let person = try unsafe personId(person)
        guard let number = SafetyNumber(try unsafe Arguments.text(number, "safety_number")) else {
            throw Arguments.refused("a safety number has 60 digits", "safety_number")
        }
        return try unsafe withCircle(of: node) { circle in
            try await circle.verify(number, of: person)
            return nil
        }
    }
}

@c @implementation
public func runar_node_revoke_trust(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe withPerson(node, person, callback, context) { circle, person in try await circle.revokeTrust(in: person) }
}

// MARK: - Thoughts

@c @implementation
public func runar_node_say(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ text: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let person = try unsafe personId(person)
        let text = try unsafe Arguments.text(text, "text")
        return try unsafe withCircle(of: node) { try await $0.say(text, to: person).publicID.text }
    }
}

@c @implementation
public func runar_node_send_thought(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ media: UnsafePointer<CChar>?,
    _ data: UnsafePointer<UInt8>?,
    _ length: Int,
    _ contentType: UnsafePointer<CChar>?,
    _ fileName: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let person = try unsafe personId(person)
        let name = try unsafe Arguments.text(media, "media_type")
        guard let mediaType = MediaType(rawValue: name) else {
            throw Arguments.refused("a media type is say, text, post, image, audio or video", name)
        }
        let content = Array(try unsafe Arguments.data(data, length, "data"))
        let contentType = try unsafe Arguments.optionalText(contentType, "content_type")
        let fileName = try unsafe Arguments.optionalText(fileName, "file_name")
        return try unsafe withCircle(of: node) { circle in
            let thought = try await circle.send(
                mediaType,
                content,
                contentType: contentType,
                fileName: fileName,
                to: person
            )
            return thought.publicID.text
        }
    }
}

@c @implementation
public func runar_node_get_thoughts(
    _ node: OpaquePointer?,
    _ person: UnsafePointer<CChar>?,
    _ number: UInt64,
    _ limit: UInt32,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let person = try unsafe personId(person)
        guard limit <= thoughtLimit else {
            throw Arguments.refused("at most \(thoughtLimit) thoughts are listed at once", "limit")
        }
        let count = limit == 0 ? defaultThoughtCount : Int(limit)
        // The numbers of thoughts are signed in the database.
        let before = number == 0 ? nil : min(number, UInt64(Int64.max))
        return try unsafe withCircle(of: node) { circle in
            let names = PeopleNames(circle)
            return JSONText.encode(
                try circle.thoughts(with: person, before: before, limit: count)
                    .map { ThoughtReport($0, in: .person(person), names) }
            )
        }
    }
}

@c @implementation
public func runar_node_get_thought_content(
    _ node: OpaquePointer?,
    _ id: UnsafePointer<CChar>?,
    _ callback: runar_data_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    let completion = unsafe DataCompletion(function: callback, context: context)
    unsafe begin(node, finish: { completion.call($0) }) {
        let text = try unsafe Arguments.text(id, "thought_id")
        let thought = try Arguments.publicId(text, "thought_id")
        return try unsafe withCircle(of: node) { Data(try $0.thought(thought).model.content) }
    }
}

@c @implementation
public func runar_node_note_opened(
    _ node: OpaquePointer?,
    _ thoughts: UnsafePointer<CChar>?,
    _ callback: runar_callback?,
    _ context: UnsafeMutableRawPointer?
) {
    unsafe begin(node, Completion(function: callback, context: context)) {
        let parts = try unsafe Arguments.text(thoughts, "thought_ids").split { $0 == "," || $0 == " " }
        guard parts.count <= thoughtLimit else {
            throw Arguments.refused("at most \(thoughtLimit) thoughts are noted at once", "thought_ids")
        }
        let ids = try parts.map { try Arguments.publicId(String($0), "thought_ids") }
        return try unsafe withCircle(of: node) { circle in
            try await circle.noteOpened(ids.map { try circle.thought($0) })
            return nil
        }
    }
}

// MARK: - Events

@c @implementation
public func runar_node_subscribe_circle(
    _ node: OpaquePointer?,
    _ callback: runar_circle_callback?,
    _ context: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<UnsafeMutablePointer<runar_error>?>?
) -> UnsafeMutablePointer<CChar>? {
    unsafe ErrorPlace(error).run {
        let node = try unsafe found(node)
        guard let callback = unsafe callback else { throw Arguments.missing("callback") }
        let target = unsafe CircleEventTarget(function: callback, context: context)
        return unsafe Memory.text(try node.subscribe(toCircle: target))
    }
}
