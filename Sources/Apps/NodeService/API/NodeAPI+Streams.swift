package import APIDescription
internal import HTTPAPI
package import NodeModel

// The inner circle: streams, the devices of this device's person, and the people who are blocked.
extension Operations {
    private static let stream = "/circle/streams/{stream}"

    /// Makes a stream without members.
    package static let makeStream = Operation<NoPath, StreamForm, StreamReport>(
        .post,
        "/circle/streams",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Deletes a stream with its thoughts.
    package static let deleteStream = Operation<StreamName, NoForm, DoneReport>(
        .delete,
        stream,
        .overTheNetwork,
        changes: [.circle]
    )

    /// Invites a person to a stream.
    package static let inviteToStream = Operation<PathPair<StreamName, PersonName>, NoForm, StreamReport>(
        .put,
        "\(stream)/members/{person}",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Removes a person from a stream.
    package static let removeFromStream = Operation<PathPair<StreamName, PersonName>, NoForm, StreamReport>(
        .delete,
        "\(stream)/members/{person}",
        .overTheNetwork,
        changes: [.circle]
    )

    /// Joins a stream.
    package static let joinStream = Operation<StreamName, NoForm, StreamReport>(
        .post,
        "\(stream)/join",
        .overTheNetwork,
        changes: [.circle, .keys]
    )

    /// Leaves a stream, or declines the invitation.
    package static let leaveStream = Operation<StreamName, NoForm, StreamReport>(
        .post,
        "\(stream)/leave",
        .overTheNetwork,
        changes: [.circle]
    )

    // A device is expected by the node that runs, so both sides of an addition need the network.

    /// Gives this person and the circle to another device.
    package static let addOwnDevice = Operation<PeerName, NoForm, CircleReport>(
        .post,
        "/circle/devices/{peer}",
        .withVaultSecret,
        needsNetwork: true,
        changes: [.circle, .keys],
        requiredPeers: { device, _ in .peer(device) }
    )

    /// Permits another device of this person to give the circle to this one.
    package static let expectDevice = Operation<PeerName, NoForm, CircleReport>(
        .post,
        "/circle/devices/{peer}/expect",
        .withVaultSecret,
        needsNetwork: true,
        changes: [.circle]
    )

    /// Takes a device off the card of this device's person.
    package static let removeDevice = Operation<PeerName, NoForm, CircleReport>(
        .delete,
        "/circle/devices/{peer}",
        .atThisDevice,
        changes: [.circle, .keys]
    )

    /// Blocks a person, with the severity of each reason.
    package static let block = Operation<PersonName, BlockForm, CircleReport>(
        .put,
        "/circle/blocked/{person}",
        .overTheNetwork,
        changes: [.circle, .keys, .peers]
    )

    /// Lifts the block of a person.
    package static let unblock = Operation<PersonName, NoForm, CircleReport>(
        .delete,
        "/circle/blocked/{person}",
        .overTheNetwork,
        changes: [.circle]
    )
}

extension NodeAPI {
    var streamOperations: [APIOperation] {
        [
            serve(Operations.makeStream) { try await handler.makeStream($0.form) },
            serve(Operations.deleteStream) { try await handler.deleteStream($0.path) },
            serve(Operations.inviteToStream) { try await handler.inviteToStream($0.path.first, $0.path.second) },
            serve(Operations.removeFromStream) { try await handler.removeFromStream($0.path.first, $0.path.second) },
            serve(Operations.joinStream) { try await handler.joinStream($0.path) },
            serve(Operations.leaveStream) { try await handler.leaveStream($0.path) },
        ]
    }

    var ownDeviceOperations: [APIOperation] {
        [
            serve(Operations.addOwnDevice) { try await handler.addDevice($0.path) },
            serve(Operations.expectDevice) { try handler.expectDevice($0.path) },
            serve(Operations.removeDevice) { try await handler.removeDevice($0.path) },
        ]
    }

    var blockOperations: [APIOperation] {
        [
            serve(Operations.block) { try await handler.block($0.path, reasons: $0.form.reasons ?? [:]) },
            serve(Operations.unblock) { try await handler.unblock($0.path) },
        ]
    }
}
