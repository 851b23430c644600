internal import Bytes
internal import CommandModel
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

// Keys leave the vault only here.
extension RequestHandler {
    /// The keys that a person may name.
    static let keyNames = ["peer", "root"]

    private func key(_ name: String) throws -> SecretBytes? {
        guard Self.keyNames.contains(name) else {
            throw CommandFailure(
                "no-such-key",
                .usage,
                "there is no key \"\(name)\": name one of \(Self.keyNames.joined(separator: ", "))",
                http: 404
            )
        }
        return try keys.retrieve(id: name)
    }

    package func exportKey(_ name: String, isRevealed: Bool) throws -> KeyReport {
        guard let secret = try key(name) else {
            throw CommandFailure(
                "no-key",
                .data,
                "this device has no \(name) key yet: `runar network create` or `runar backup restore` makes it",
                http: 404
            )
        }
        return try KeyReport(name, secret, isRevealed: isRevealed)
    }

    package func importKey(_ name: String, hex: String, replacing: Bool) throws -> KeyReport {
        var bytes: [UInt8]
        do {
            bytes = try Hex.decode(hex)
        } catch {
            throw CommandFailure("bad-key", .data, "a key is 64 hexadecimal digits: copy it again in full")
        }
        let imported = try Ed25519PrivateKey(SecretBytes(consuming: &bytes))
        try RunarKeychain.whileCounting {
            if let present = try key(name), present != imported.secret, !replacing {
                throw CommandFailure(
                    "exists",
                    .cannotCreate,
                    "this device has another \(name) key, which would be lost: export it first, then use --replace"
                )
            }
            guard name != "peer" || !node.isRunning else {
                throw CommandFailure(
                    "running",
                    .notPermitted,
                    "the node runs with its key: stop it with `runar stop` first"
                )
            }
            try keys.store(imported.secret, id: name)
        }
        return try KeyReport(name, imported.secret, isRevealed: false)
    }

    /// Gives this device a new key; a running node stops for it and starts with the new one.
    package func renewDevice() async throws -> RenewalReport {
        let (former, wasRunning) = (node.peerId, node.isRunning)
        let before = try node.networks().filter { $0.token != nil }
        await endCircle()
        await endKeyStores()
        if wasRunning { await node.stop() }
        do {
            try await node.renewDevice()
            try NodeDirectory.note(node.peerId, in: home)
        } catch {
            if wasRunning { try await restartNode() }
            throw error
        }
        if wasRunning { try await restartNode() }
        let kept = Set(try node.networks().filter { $0.token != nil }.map(\.networkId))
        return RenewalReport(
            peerId: node.peerId.base64Encoded,
            peerIdText: node.peerId.text,
            formerPeerId: former.base64Encoded,
            kept: kept.map(\.base64Encoded).sorted(),
            ended: before.map(\.networkId).filter { !kept.contains($0) }.map(\.base64Encoded).sorted()
        )
    }

    private func restartNode() async throws {
        try await node.start()
        openKeyStores()
        openCircle()
    }
}

/// A key as it is shown.
package struct KeyReport: Report {
    let key: String
    /// 32 bytes in hex.
    let publicKey: String
    /// 32 bytes in hex; nil unless it was asked for.
    var privateKey: String?
    /// The id that the key of a device proves.
    var peerId: String?

    init(_ name: String, _ secret: SecretBytes, isRevealed: Bool) throws {
        let pair = Ed25519KeyPair(privateKey: try Ed25519PrivateKey(secret))
        key = name
        publicKey = Hex.encode(pair.publicKey.bytes)
        privateKey = isRevealed ? secret.withBytes { Hex.encode($0) } : nil
        peerId = name == "peer" ? PeerId(publicKey: pair.publicKey).base64Encoded : nil
    }

    package var lines: [String] {
        var lines = ["key         \(key)", "public key  \(publicKey)"]
        if let peerId { lines.append("peer id     \(peerId)") }
        if let privateKey { lines.append("private key \(privateKey)") }
        return lines
    }
}

/// The ids and networks of a device that got a new key.
package struct RenewalReport: Report {
    let peerId: String
    let peerIdText: String
    let formerPeerId: String
    /// The networks that this device signs for, of which it is a member by its new key.
    let kept: [String]
    /// The networks of which the old key was a member, and the new one is not.
    let ended: [String]

    package var lines: [String] {
        let memberships = ended.isEmpty ? "no membership ended" : "\(ended.count) memberships ended: join again"
        return ["this device is \(peerIdText) now", "\(kept.count) networks of its own kept, \(memberships)"]
    }
}

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
            expiration: lifeSeconds.map { UnixTime.date($0, after: now.wallSeconds) },
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
