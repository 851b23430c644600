internal import Console
internal import Foundation

// The inner circle: people, trust and thoughts.
extension NodeAPI {
    var circleOperations: [APIOperation] {
        [
            route(.get, "/circle") { _ in try handler.circleReport() },
            route(.put, "/circle/profile", .json(ProfileForm.self), changes: [.circle]) { _, form in
                try await handler.setProfile(form)
            },
            route(.get, "/circle/card") { _ in try handler.ownCard() },
            route(.post, "/circle/people", .json(TextForm.self), needsNetwork: true, changes: [.circle]) { _, form in
                try await handler.addPerson(card: form.text)
            },
            route(.post, "/peers/{peer}/circle", body: .json(), needsNetwork: true, changes: [.circle]) {
                try await handler.invite($0.peer)
            },
            route(
                .post,
                "/circle/people/{person}/accept",
                body: .json(),
                needsNetwork: true,
                changes: [.circle, .keys]
            ) {
                try await handler.accept($0.person)
            },
            route(.post, "/circle/people/{person}/decline", body: .json(), changes: [.circle]) {
                try await handler.decline($0.person)
            },
            route(
                .post,
                "/circle/people/{person}/verify",
                .json(TextForm.self),
                changes: [.circle]
            ) { request, form in
                try await handler.verify(request.person, digits: form.text)
            },
            route(.delete, "/circle/people/{person}", changes: [.circle, .keys, .peers]) {
                try await handler.revokeTrust(in: $0.person)
            },
        ] + thoughtOperations
    }

    private var thoughtOperations: [APIOperation] {
        [
            route(.get, "/circle/people/{person}/thoughts", .query(ThoughtsQuestion.self)) { request, question in
                try handler.thoughts(with: request.person, question.checked())
            },
            route(.post, "/circle/people/{person}/thoughts", Self.message) { request, form in
                try await handler.say(Self.text(ofMessage: form), to: request.person)
            },
            route(.post, "/circle/people/{person}/opened", .json(OpenedForm.self)) { request, form in
                try await handler.noteOpened(request.person, from: form.first, to: form.last)
            },
            course(
                .post,
                "/circle/people/{person}/follow",
                .empty,
                updates: [.circle, .thought]
            ) { request, _ in
                { tell in
                    try await handler.followThoughts(with: request.person, tell)
                    return DoneReport(done: true)
                }
            },
        ]
    }
}
