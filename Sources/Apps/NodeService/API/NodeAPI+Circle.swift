internal import Console
internal import Foundation
internal import Identity
internal import Platform

// The inner circle: people, trust and thoughts.
extension NodeAPI {
    var circleOperations: [APIOperation] {
        peopleOperations + thoughtOperations + streamOperations + ownDeviceOperations + blockOperations
    }

    private var peopleOperations: [APIOperation] {
        [
            route(.get, "/circle", .overTheNetwork) { _ in try handler.circleReport() },
            route(.put, "/circle/profile", .overTheNetwork, .json(ProfileForm.self), changes: [.circle]) { _, form in
                try await handler.setProfile(form)
            },
            route(.put, "/circle/homes", .overTheNetwork, .json(HomesForm.self), changes: [.circle]) { _, form in
                try await handler.setHomes(form.peers.map { PeerName(form: $0) })
            },
            route(.get, "/circle/card", .overTheNetwork) { _ in try handler.ownCard() },
            route(
                .post,
                "/circle/people",
                .overTheNetwork,
                .json(TextForm.self),
                needsNetwork: true,
                changes: [.circle]
            ) { _, form in
                try await handler.addPerson(card: form.text)
            },
            route(.post, "/peers/{peer}/circle", .overTheNetwork, body: .json(), needsNetwork: true, changes: [.circle])
            {
                try await handler.invite($0.peer)
            },
            route(
                .post,
                "/circle/people/{person}/accept",
                .overTheNetwork,
                body: .json(),
                needsNetwork: true,
                changes: [.circle, .keys]
            ) {
                try await handler.accept($0.person)
            },
            route(
                .post,
                "/circle/people/{person}/decline",
                .overTheNetwork,
                .json(DeclineForm.self),
                changes: [.circle]
            ) { request, form in
                try await handler.decline(request.person, ignoringDevices: form.ignoreDevices ?? false)
            },
            route(.post, "/circle/people/{person}/verify", .overTheNetwork, .json(TextForm.self), changes: [.circle]) {
                request,
                form in
                try await handler.verify(request.person, digits: form.text)
            },
            route(.delete, "/circle/people/{person}", .overTheNetwork, changes: [.circle, .keys, .peers]) {
                try await handler.revokeTrust(in: $0.person)
            },
        ]
    }

    private var thoughtOperations: [APIOperation] {
        [
            route(
                .get,
                "/circle/conversations/{conversation}/thoughts",
                .overTheNetwork,
                .query(ThoughtsQuery.self)
            ) { request, query in
                try handler.thoughts(in: request.conversation, query.checked())
            },
            route(
                .post,
                "/circle/conversations/{conversation}/thoughts",
                .overTheNetwork,
                .json(ThoughtForm.self, limit: Self.contentByteLimit)
            ) { request, form in
                if let attachment = try form.attachment() {
                    return try await handler.send(attachment, in: request.conversation)
                }
                guard let text = form.text else {
                    throw RouteRequest.badField("text", "is missing: send a text, or \"mediaType\" and \"base64\"")
                }
                return try await handler.say(Self.text(ofMessage: TextForm(text: text)), in: request.conversation)
            },
            route(.get, "/circle/conversations/{conversation}/thoughts/{thought}", .overTheNetwork) { request in
                try handler.thoughtContent(request["thought"], in: request.conversation)
            },
            route(.post, "/circle/conversations/{conversation}/opened", .overTheNetwork, .json(OpenedForm.self)) {
                request,
                form in
                try await handler.noteOpened(request.conversation, from: form.first, to: form.last)
            },
            eventStream(
                .post,
                "/circle/conversations/{conversation}/follow",
                .overTheNetwork,
                .empty,
                updates: [.circle, .thought]
            ) { request, _ in
                { tell in
                    try await handler.followThoughts(in: request.conversation, tell)
                    return DoneReport(done: true)
                }
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
