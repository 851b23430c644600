package import APIDescription
internal import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
internal import Platform

// The inner circle: people, trust and thoughts.
extension Operations {
    private static let conversation = "/circle/conversations/{conversation}"

    /// The circle of this device's person.
    package static let circle = Operation<NoPath, NoForm, CircleReport>(.get, "/circle", .overTheNetwork)

    /// Sets the profile of this device's person.
    package static let setProfile = Operation<NoPath, ProfileForm, CircleReport>(
        .put,
        "/circle/profile",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Chooses the members that hold mail for the devices of this device's person; none for the nearest ones.
    package static let setHomes = Operation<NoPath, HomesForm, CircleReport>(
        .put,
        "/circle/homes",
        .overTheNetwork,
        changes: [.circle]
    )

    /// The card of this device's person.
    package static let ownCard = Operation<NoPath, NoForm, CardReport>(.get, "/circle/card", .overTheNetwork)

    /// Asks the person of a card for trust.
    package static let addPerson = Operation<NoPath, TextForm, PersonReport>(
        .post,
        "/circle/people",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.circle],
        requiredPeers: { _, _ in .everybody }
    )

    /// Asks the person of a connected device for trust.
    package static let invitePerson = Operation<PeerName, NoForm, InvitedReport>(
        .post,
        "/peers/{peer}/circle",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.circle],
        requiredPeers: { peer, _ in .peer(peer) }
    )

    /// Accepts the request of a person, or asks a person in whom trust was revoked again.
    package static let accept = Operation<PersonName, NoForm, PersonReport>(
        .post,
        "/circle/people/{person}/accept",
        .overTheNetwork,
        needsNetwork: true,
        changes: [.circle, .keys],
        requiredPeers: { _, _ in .everybody }
    )

    /// Declines the request of a person, and refuses further ones of the person's devices if wanted.
    package static let decline = Operation<PersonName, DeclineForm, DoneReport>(
        .post,
        "/circle/people/{person}/decline",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Confirms that the safety number on the person's screen has these digits.
    package static let verify = Operation<PersonName, TextForm, PersonReport>(
        .post,
        "/circle/people/{person}/verify",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Revokes the trust in a person.
    package static let revokeTrust = Operation<PersonName, NoForm, PersonReport>(
        .delete,
        "/circle/people/{person}",
        .overTheNetwork,
        changes: [.circle, .keys, .peers]
    )

    /// The newest thoughts of a conversation, or those that contain a text.
    package static let thoughts = Operation<ConversationName, ThoughtsQuery, ThoughtsReport>(
        .get,
        "\(conversation)/thoughts",
        .overTheNetwork
    )

    /// Sends a thought to a conversation.
    package static let sendThought = Operation<ConversationName, ThoughtForm, ThoughtReport>(
        .post,
        "\(conversation)/thoughts",
        .overTheNetwork,
        limit: NodeAPI.contentByteLimit
    )

    /// The content of a thought.
    package static let thoughtContent = Operation<
        PathPair<ConversationName, ThoughtName>, NoForm, ThoughtContentReport
    >(.get, "\(conversation)/thoughts/{thought}", .overTheNetwork)

    /// Notifies the creators that thoughts were seen, by their first and last number.
    package static let noteOpened = Operation<ConversationName, OpenedForm, DoneReport>(
        .post,
        "\(conversation)/opened",
        .overTheNetwork
    )

    /// Streams each change in a conversation.
    package static let followThoughts = Operation<ConversationName, NoForm, DoneReport>(
        .post,
        "\(conversation)/follow",
        .overTheNetwork,
        .updates([.circle, .thought])
    )
}

extension NodeAPI {
    var circleOperations: [APIOperation] {
        peopleOperations + thoughtOperations + streamOperations + ownDeviceOperations + blockOperations
    }

    private var peopleOperations: [APIOperation] {
        [
            serve(Operations.circle) { _ in try handler.circleReport() },
            serve(Operations.setProfile) { try await handler.setProfile($0.form) },
            serve(Operations.setHomes) { try await handler.setHomes($0.form.peers.map { PeerName(form: $0) }) },
            serve(Operations.ownCard) { _ in try handler.ownCard() },
            serve(Operations.addPerson) { try await handler.addPerson(card: $0.form.text) },
            serve(Operations.invitePerson) { try await handler.invite($0.path) },
            serve(Operations.accept) { try await handler.accept($0.path) },
            serve(Operations.decline) {
                try await handler.decline($0.path, ignoringDevices: $0.form.ignoreDevices ?? false)
            },
            serve(Operations.verify) { try await handler.verify($0.path, digits: $0.form.text) },
            serve(Operations.revokeTrust) { try await handler.revokeTrust(in: $0.path) },
        ]
    }

    private var thoughtOperations: [APIOperation] {
        [
            serve(Operations.thoughts) { try handler.thoughts(in: $0.path, $0.form.checked()) },
            serve(Operations.sendThought) { request in
                if let attachment = try request.form.attachment() {
                    return try await handler.send(attachment, in: request.path)
                }
                guard let text = request.form.text else {
                    throw RouteRequest.badField("text", "is missing: send a text, or \"mediaType\" and \"base64\"")
                }
                return try await handler.say(Self.text(ofMessage: TextForm(text)), in: request.path)
            },
            serve(Operations.thoughtContent) {
                try handler.thoughtContent($0.path.second.text, in: $0.path.first)
            },
            serve(Operations.noteOpened) {
                try await handler.noteOpened($0.path, from: $0.form.first, to: $0.form.last)
            },
            streamUpdates(Operations.followThoughts) { request in
                { tell in try await handler.followThoughts(in: request.path, tell) }
            },
        ]
    }
}

extension ThoughtForm {
    /// The attachment; nil if the thought is a text.
    ///
    /// - Throws: ``RouteFailure`` that names the field; ``CommandFailure`` for content that is too large.
    fileprivate func attachment() throws -> Attachment? {
        guard mediaType != nil || base64 != nil else { return nil }
        guard text == nil else {
            throw RouteRequest.badField("text", "or \"base64\" must give the content, but not both")
        }
        guard let kind = mediaType else {
            throw RouteRequest.badField("mediaType", "is missing: use image, audio or video")
        }
        guard let base64, !base64.isEmpty else {
            throw RouteRequest.badField("base64", "is missing: send the content in base64")
        }
        let content = Array(try ContentForm.decode(base64, "base64"))
        guard content.count <= Attachment.byteLimit else { throw Attachment.tooLarge(content.count) }
        try Self.check(contentType, "contentType")
        try Self.check(fileName, "fileName")
        if let fileName, !FilePath.isComponent(fileName) {
            throw RouteRequest.badField("fileName", "must be the name of a file, without slashes")
        }
        return Attachment(kind: kind, content: content, contentType: contentType, fileName: fileName)
    }

    private static func check(_ name: String?, _ field: String) throws {
        guard let name else { return }
        guard 1...Attachment.nameByteLimit ~= name.utf8.count, name.unicodeScalars.allSatisfy(PlainText.isPlain) else {
            throw RouteRequest.badField(
                field,
                "must have 1 to \(Attachment.nameByteLimit) bytes, all of them visible characters"
            )
        }
    }
}
