internal import Console

// Networks: making, joining, leaving, and admitting others.

extension APIRequest {
    /// The path parameter of a network.
    fileprivate static func segment(_ network: NetworkName?) -> [String: String] {
        ["network": network?.text ?? NodeAPI.onlyNetwork]
    }
}

extension APIRequest where Answer == NetworksReport {
    package static var networks: Self { Self(.get, "networks") }
}

extension APIRequest where Answer == NetworkReport {
    package static func network(_ network: NetworkName?) -> Self { Self(.get, "networks/{network}", segment(network)) }

    /// With the index of its key, if the person gives it.
    package static func createNetwork(name: String, index: UInt32?) -> Self {
        Self(.post, "networks", body: NewNetworkForm(name: name, index: index))
    }

    package static func renameNetwork(_ network: NetworkName, name: String) -> Self {
        Self(.patch, "networks/{network}", segment(network), body: NameForm(name: name))
    }
}

extension APIRequest where Answer == LeaveReport {
    package static func leaveNetwork(_ network: NetworkName) -> Self {
        Self(.delete, "networks/{network}", segment(network))
    }
}

extension APIRequest where Answer == TokenReport {
    /// The last second since 1970, or nil for a token without end.
    package static func issueToken(
        _ peer: PeerName,
        network: NetworkName?,
        expiration: UInt64?,
        label: String?,
        isRenewable: Bool
    ) -> Self {
        let form = TokenForm(peer: peer.text, expiration: expiration, label: label, renewable: isRenewable)
        return Self(.post, "networks/{network}/tokens", segment(network), body: form)
    }
}

extension APIRequest where Answer == RevocationReport {
    package static func revoke(_ peer: PeerName, network: NetworkName?) -> Self {
        Self(.post, "networks/{network}/revocations", segment(network), body: PeerForm(peer: peer.text))
    }
}

extension APIRequest where Answer == JoinReport {
    /// Texts that the person pasted; a token among them must be for `network`, if it is given.
    package static func join(_ text: String, network: NetworkName? = nil) -> Self {
        Self(.post, "join", body: JoinForm(text: text, network: network?.text))
    }

    /// An invitation that the person pasted or scanned.
    package static func joinByInvitation(_ text: String) -> Self {
        Self(.post, "join/invitation", body: TextForm(text: text))
    }
}

extension APIRequest where Answer == AdmissionReport {
    /// Creates an invitation and admits the device that uses it.
    package static func invite(to network: NetworkName?, _ form: InvitationForm) -> Self {
        Self(.post, "networks/{network}/invitations", segment(network), body: form)
    }
}

extension APIRequest where Answer == ConnectionTextReport {
    package static func connectionText(_ network: NetworkName?, address: String?) -> Self {
        Self(.get, "networks/{network}/connection-text", segment(network), query: ["address": address])
    }
}

extension APIRequest where Answer == PublicAddressReport {
    /// Asks the STUN servers of the settings for the address of the running node.
    package static var publicAddress: Self { Self(.get, "public-address") }
}

extension APIRequest where Answer == DiscoverReport {
    /// In one network or in every one.
    package static func discover(_ network: NetworkName?) -> Self {
        // The first member found is not all of them.
        Self(.get, "networks/{network}/discovered", segment(network), requiredPeers: .everybody)
    }
}

extension APIRequest where Answer == BroadcastReport {
    package static func broadcast(network: NetworkName?, text: String) -> Self {
        Self(
            .post,
            "networks/{network}/broadcast",
            segment(network),
            body: TextForm(text: text),
            requiredPeers: .member(network)
        )
    }
}

extension APIRequest where Answer == PublishedReport {
    /// Publishes an event to a topic.
    package static func publish(_ topic: String, network: NetworkName?, _ event: [UInt8]) -> Self {
        let forms = Joined(TopicForm(topic: topic), ContentForm(event))
        return Self(
            .post,
            "networks/{network}/events",
            segment(network),
            body: forms,
            requiredPeers: .exchange(network)
        )
    }
}

extension APIRequest where Answer == PutReport {
    /// Nil lifetime: as long as the library's default.
    package static func put(_ key: TableKey, value: [UInt8], condition: PutCondition, lifetime: Duration?) -> Self {
        let forms = Joined(key.form, PutForm(condition, lifetime), ContentForm(value))
        return Self(
            .put,
            "networks/{network}/records",
            segment(key.network),
            body: forms,
            requiredPeers: .memberOfOne(key.network)
        )
    }
}

extension APIRequest where Answer == RecordsReport {
    package static func get(_ key: TableKey, _ options: GetOptions) -> Self {
        let form = GetForm(all: options.isAll, writer: options.writer?.text, cached: options.isCached)
        return Self(
            .post,
            "networks/{network}/records/get",
            segment(key.network),
            body: Joined(key.form, form),
            requiredPeers: .memberOfOne(key.network)
        )
    }
}

extension APIRequest where Answer == DeleteReport {
    package static func delete(_ key: TableKey) -> Self {
        Self(
            .post,
            "networks/{network}/records/delete",
            segment(key.network),
            body: key.form,
            requiredPeers: .memberOfOne(key.network)
        )
    }
}

extension APIRequest where Answer == DoneReport {
    /// Streams the events of a topic or pattern.
    package static func subscribe(_ topic: String, network: NetworkName?, includesPast: Bool) -> Self {
        let form = SubscriptionForm(topic: topic, past: includesPast)
        return Self(.post, "networks/{network}/subscriptions", segment(network), body: form)
    }
}
