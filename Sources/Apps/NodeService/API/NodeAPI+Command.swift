internal import Bytes
internal import Console
internal import Foundation
internal import RunarNode

// What the `runar` command alone may ask, over the socket in the home: paths of this machine, secret keys, and services
// that another process answers.
extension NodeAPI {
    var commandRoutes: [ConsoleRoute] {
        [
            route(.post, "/console/address", body: .json()) { _ in try handler.consoleAddress() },
            course(.post, "/console/link", body: .json()) { _ in
                { tell in try await handler.openConsole(tell) }
            },
            course(.post, "/peers/{peer}/local-files", body: .json(), needsNetwork: true) { request in
                let path = try request.form(PathForm.self).path
                let peer = try handler.resolve(request.peer)
                return { tell in try await handler.sendFile(path, to: peer, tell) }
            },
            course(.post, "/listen", body: .json(), needsNetwork: true) { request in
                let form: ListenForm = try request.form()
                return { tell in
                    try await handler.listen(form, tell)
                    return DoneReport(done: true)
                }
            },
            course(.post, "/serve", body: .json(), needsNetwork: true, changes: [.services]) { request in
                let form: ServingForm = try request.form()
                return { tell in
                    try await handler.serve(form, tell)
                    return DoneReport(done: true)
                }
            },
            route(.post, "/calls/{number}", body: Self.content) { request in
                let form: CallAnswerForm = try request.form()
                let answer: CallAnswer
                switch (form.result, form.failure) {
                case (let result?, nil): answer = .result(try ContentForm.decode(result, "result"))
                case (nil, let why?): answer = .failure(why)
                case (nil, nil), (_?, _?):
                    throw ConsoleRequest.badField("result", "or \"failure\" says how it went, and not both")
                }
                try handler.calls.answer(Self.number(request["number"]), answer)
                return DoneReport(done: true)
            },
            route(.post, "/keys/{key}/export", body: .json()) { request in
                try handler.exportKey(request["key"], isRevealed: request.form(RevealForm.self).reveal)
            },
            route(.post, "/keys/{key}/import", body: .json(), changes: [.keys, .networks]) { request in
                let form: KeyImportForm = try request.form()
                return try handler.importKey(request["key"], hex: form.hex, replacing: form.replace)
            },
            route(.post, "/backup/content", body: .json()) { _ in try handler.backup() },
        ]
    }
}

extension ConsoleRequest {
    /// Refuses what only a process of the node's own user may say.
    ///
    /// - Throws: ``ConsoleFailure`` for requests that did not come by the socket in the home.
    func checkUser() throws(ConsoleFailure) {
        guard origin == .socket else {
            throw ConsoleFailure(403, "only-user", "a path is named over the socket in the node's home only")
        }
    }

    /// Whether a name of the query says yes.
    func flag(_ name: String) -> Bool { text(name).map { $0 == "1" || $0 == "true" } ?? false }
}
