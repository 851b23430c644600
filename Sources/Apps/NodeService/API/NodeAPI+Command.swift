internal import Bytes
internal import Console
internal import Foundation
internal import RunarNode

// Operations for the `runar` command alone, over the socket in the home: paths of this machine, secret keys, and services
// that another process answers.
extension NodeAPI {
    var commandOperations: [APIOperation] {
        [
            route(.post, "/console/address", .atThisDevice, body: .json()) { _ in try handler.consoleAddress() },
            eventStream(.post, "/console/link", .atThisDevice, .empty, updates: [.consoleLink]) { _, _ in
                { tell in try await handler.openConsole(tell) }
            },
            eventStream(
                .post,
                "/peers/{peer}/local-files",
                .atThisDevice,
                .json(PathForm.self),
                updates: [.transferred],
                needsNetwork: true
            ) { request, form in
                let peer = try handler.resolve(request.peer)
                return { tell in try await handler.sendFile(form.path, to: peer, tell) }
            },
            eventStream(
                .post,
                "/listen",
                .atThisDevice,
                .json(ListenForm.self),
                updates: [.listening, .message, .fileOffered, .offerEnded, .fileArrived, .fileFailed, .event],
                needsNetwork: true
            ) { _, form in
                { tell in
                    try await handler.listen(form, tell)
                    return DoneReport(done: true)
                }
            },
            eventStream(
                .post,
                "/serve",
                .atThisDevice,
                .json(ServingForm.self),
                updates: [.serving, .called, .callEnded],
                needsNetwork: true,
                changes: [.services]
            ) { _, form in
                { tell in
                    try await handler.serve(form, tell)
                    return DoneReport(done: true)
                }
            },
        ] + answeringOperations
    }

    /// Answers to calls, confirmations of messages, and secret keys.
    private var answeringOperations: [APIOperation] {
        [
            route(.post, "/calls/{number}", .atThisDevice, .json(CallAnswerForm.self, limit: Self.contentByteLimit)) {
                request,
                form in
                let answer: CallAnswer
                switch (form.result, form.failure) {
                case (let result?, nil): answer = .result(try ContentForm.decode(result, "result"))
                case (nil, let why?): answer = .failure(why)
                case (nil, nil), (_?, _?):
                    throw RouteRequest.badField("result", "or \"failure\" must give the outcome, but not both")
                }
                try handler.calls.answer(Self.number(request["number"]), answer)
                return DoneReport(done: true)
            },
            route(.post, "/deliveries/{number}", .atThisDevice, body: .json()) { request in
                try handler.deliveries.answer(Self.number(request["number"]), ())
                return DoneReport(done: true)
            },
            route(.post, "/keys/{key}/export", .withVaultSecret, body: .json()) {
                try handler.exportKey($0["key"], isRevealed: true)
            },
            route(
                .post,
                "/keys/{key}/import",
                .withVaultSecret,
                .json(KeyImportForm.self),
                changes: [.keys, .networks]
            ) { request, form in
                try handler.importKey(request["key"], hex: form.hex, replacing: form.replace)
            },
            route(.post, "/backup/content", .withVaultSecret, body: .json()) { _ in try handler.backup() },
            route(
                .post,
                "/backup/content/restore",
                .withVaultSecret,
                .json(RestoreContentForm.self, limit: Self.contentByteLimit),
                changes: [.keys, .networks, .peers]
            ) { _, form in
                try await handler.restore(form.content, replacing: form.replace)
            },
        ]
    }
}

extension RouteRequest {
    /// Refuses a request that only processes of the node's own user may send.
    ///
    /// - Throws: ``RouteFailure`` for requests over the loopback interface or the local network.
    func checkUser() throws(RouteFailure) {
        guard origin.isOfUser else {
            throw RouteFailure(403, "only-user", "a path may be given only over the socket in the node's home")
        }
    }
}
