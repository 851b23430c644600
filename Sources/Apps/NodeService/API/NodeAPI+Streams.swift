internal import Console

// The inner circle: streams, the devices of this device's person, and the people who are blocked.
extension NodeAPI {
    var streamOperations: [APIOperation] {
        [
            route(.post, "/circle/streams", .json(StreamForm.self), changes: [.circle]) { _, form in
                try await handler.makeStream(form)
            },
            route(.delete, "/circle/streams/{stream}", changes: [.circle]) {
                try await handler.deleteStream($0.stream)
            },
            route(.put, "/circle/streams/{stream}/members/{person}", body: .json(), changes: [.circle]) {
                try await handler.inviteToStream($0.stream, $0.person)
            },
            route(.delete, "/circle/streams/{stream}/members/{person}", changes: [.circle]) {
                try await handler.removeFromStream($0.stream, $0.person)
            },
            route(.post, "/circle/streams/{stream}/join", body: .json(), changes: [.circle, .keys]) {
                try await handler.joinStream($0.stream)
            },
            route(.post, "/circle/streams/{stream}/leave", body: .json(), changes: [.circle]) {
                try await handler.leaveStream($0.stream)
            },
        ]
    }

    /// A device is expected by the node that runs, so both sides of an addition need the network.
    var ownDeviceOperations: [APIOperation] {
        [
            route(.post, "/circle/devices/{peer}", body: .json(), needsNetwork: true, changes: [.circle, .keys]) {
                try await handler.addDevice($0.peer)
            },
            route(.post, "/circle/devices/{peer}/expect", body: .json(), needsNetwork: true, changes: [.circle]) {
                try handler.expectDevice($0.peer)
            },
            route(.delete, "/circle/devices/{peer}", changes: [.circle, .keys]) {
                try await handler.removeDevice($0.peer)
            },
        ]
    }

    var blockOperations: [APIOperation] {
        [
            route(
                .put,
                "/circle/blocked/{person}",
                .json(BlockForm.self),
                changes: [.circle, .keys, .peers]
            ) { request, form in
                try await handler.block(request.person, reasons: form.reasons ?? [:])
            },
            route(.delete, "/circle/blocked/{person}", changes: [.circle]) { try await handler.unblock($0.person) },
        ]
    }
}
