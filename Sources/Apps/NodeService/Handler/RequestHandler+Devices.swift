internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// A person's devices: one sets up another.
extension RequestHandler {
    package func deviceRequest() throws -> DeviceRequestReport {
        let request = try node.deviceRequest()
        return DeviceRequestReport(
            peerId: request.peerId.base64Encoded,
            peerIdText: request.peerId.text,
            code: request.code,
            link: request.link
        )
    }

    package func addDevice(
        _ text: String,
        networks names: [NetworkName]?,
        lifeSeconds: UInt64?,
        label: String?,
        isAdmin: Bool
    ) throws -> DeviceAnswerReport {
        let request = try DeviceRequest(text: text)
        let networks = try names.map { try $0.map { try resolveOwned($0) } } ?? ownedNetworks()
        let answer = try node.addDevice(
            request,
            networks: networks,
            expiration: lifeSeconds.map { UnixTime.date($0, after: SystemProcess.wallSeconds) },
            label: label,
            isAdmin: isAdmin
        )
        return DeviceAnswerReport(
            peerId: request.peerId.base64Encoded,
            peerIdText: request.peerId.text,
            label: label,
            networks: Self.memberships(of: answer),
            code: try answer.code,
            text: try answer.text
        )
    }

    package func setUpDevice(_ text: String) async throws -> DeviceSetUpReport {
        let answer = try DeviceAnswer(text: text)
        try node.setUp(with: answer)
        return DeviceSetUpReport(
            peerId: node.peerId.base64Encoded,
            sender: answer.sender.base64Encoded,
            networks: Self.memberships(of: answer),
            certificateStatus: try await node.keychain.getCertificateStatus().rawValue
        )
    }

    private func ownedNetworks() throws -> [NetworkId] {
        let owned = try node.networks().filter { $0.isOwner && $0.metadata != nil }.map(\.networkId)
        guard owned.count <= DeviceAnswer.maximumMembershipCount else {
            throw CommandFailure(
                "too-many-networks",
                .usage,
                "this device owns \(owned.count) networks, and one answer holds \(DeviceAnswer.maximumMembershipCount): name"
                    + " them with --network, and the others with `runar network invite` later"
            )
        }
        return owned
    }

    private static func memberships(of answer: DeviceAnswer) -> [DeviceAnswerReport.Membership] {
        answer.memberships.map { membership in
            DeviceAnswerReport.Membership(
                networkId: membership.token.networkId.base64Encoded,
                name: membership.metadata.name,
                isAdmin: membership.networkKey != nil,
                expiration: membership.token.expirationSeconds
            )
        }
    }
}
