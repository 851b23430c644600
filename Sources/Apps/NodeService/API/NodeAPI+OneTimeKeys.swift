internal import Console
internal import Foundation
internal import RunarNode

// One-time keys, and messages that are sealed with them.
extension NodeAPI {
    var oneTimeKeyOperations: [APIOperation] {
        [
            route(.get, "/one-time-keys", .overTheNetwork) { _ in try handler.keyRelationships() },
            route(
                .post,
                "/peers/{peer}/one-time-keys",
                .overTheNetwork,
                body: .json(),
                needsNetwork: true,
                changes: [.keys]
            ) {
                try await handler.exchangeKeys(with: $0.peer)
            },
            route(.post, "/peers/{peer}/one-time-keys/verify", .overTheNetwork, .json(TextForm.self), changes: [.keys])
            {
                request,
                form in
                try await handler.verifyKeys(of: request.peer, digits: form.text)
            },
            route(.delete, "/peers/{peer}/one-time-keys", .overTheNetwork, changes: [.keys]) {
                try await handler.removeKeys(of: $0.peer)
            },
            route(.post, "/peers/{peer}/sealed-messages", .overTheNetwork, Self.message, needsNetwork: true) {
                request,
                form in
                try await handler.sendSealed(Self.text(ofMessage: form), to: request.peer)
            },
        ]
    }
}
