internal import Console

// The inner circle: streams, the devices of this device's person, and the people who are blocked.
extension NodeAPI {
    var streamOperations: [APIOperation] {
        [
            route(.post, "/circle/streams", .overTheNetwork, .json(StreamForm.self), changes: [.circle]) { _, form in
                try await handler.makeStream(form)
            },
            route(.delete, "/circle/streams/{stream}", .overTheNetwork, changes: [.circle]) {
                try await handler.deleteStream($0.stream)
            },
            route(.put, "/circle/streams/{stream}/members/{person}", .overTheNetwork, body: .json(), changes: [.circle])
            {
                try await handler.inviteToStream($0.stream, $0.person)
            },
            route(.delete, "/circle/streams/{stream}/members/{person}", .overTheNetwork, changes: [.circle]) {
                try await handler.removeFromStream($0.stream, $0.person)
            },
            route(.post, "/circle/streams/{stream}/join", .overTheNetwork, body: .json(), changes: [.circle, .keys]) {
                try await handler.joinStream($0.stream)
            },
            route(.post, "/circle/streams/{stream}/leave", .overTheNetwork, body: .json(), changes: [.circle]) {
                try await handler.leaveStream($0.stream)
            },
        ]
    }

    /// A device is expected by the node that runs, so both sides of an addition need the network.
    var ownDeviceOperations: [APIOperation] {
        [
            route(
                .post,
                "/circle/devices/{peer}",
                .withVaultSecret,
                body: .json(),
                needsNetwork: true,
                changes: [.circle, .keys]
            ) {
                try await handler.addDevice($0.peer)
            },
            route(
                .post,
                "/circle/devices/{peer}/expect",
                .withVaultSecret,
                body: .json(),
                needsNetwork: true,
                changes: [.circle]
            ) {
                try handler.expectDevice($0.peer)
            },
            route(.delete, "/circle/devices/{peer}", .atThisDevice, changes: [.circle, .keys]) {
                try await handler.removeDevice($0.peer)
            },
        ]
    }

    var blockOperations: [APIOperation] {
        [
            route(
                .put,
                "/circle/blocked/{person}",
                .overTheNetwork,
                .json(BlockForm.self),
                changes: [.circle, .keys, .peers]
            ) { request, form in
                try await handler.block(request.person, reasons: form.reasons ?? [:])
            },
            route(.delete, "/circle/blocked/{person}", .overTheNetwork, changes: [.circle]) {
                try await handler.unblock($0.person)
            },
        ]
    }
}
