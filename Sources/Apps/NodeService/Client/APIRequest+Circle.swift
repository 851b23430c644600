internal import Bytes
internal import Console

// The inner circle: people, trust and thoughts.

/// The name, the id, or the beginning of the id of a person in the circle.
package struct PersonName: Hashable, Sendable {
    let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// The name, the id, or the beginning of the id of a stream.
package struct StreamName: Hashable, Sendable {
    let text: String

    package init(_ text: String) {
        self.text = text
    }
}

/// The name, the id, or the beginning of the id of a person in the circle or of a stream.
package struct ConversationName: Hashable, Sendable {
    let text: String

    package init(_ text: String) {
        self.text = text
    }
}

extension APIRequest where Answer == CircleReport {
    /// The circle of this device's person.
    package static var circle: Self { Self(.get, "circle") }

    /// Sets the profile of this device's person.
    package static func setProfile(name: String, blurb: String?) -> Self {
        Self(.put, "circle/profile", body: ProfileForm(name: name, blurb: blurb))
    }

    /// Chooses the members that hold mail for the devices of this device's person; none for the nearest ones.
    package static func setHomes(_ peers: [PeerName]) -> Self {
        Self(.put, "circle/homes", body: HomesForm(peers: peers.map(\.text)))
    }
}

extension APIRequest where Answer == InvitedReport {
    /// Asks the person of a connected device for trust.
    package static func invite(_ peer: PeerName) -> Self {
        Self(.post, "peers/{peer}/circle", ["peer": peer.text], requiredPeers: .peer(peer))
    }
}

extension APIRequest where Answer == CardReport {
    /// The card of this device's person.
    package static var ownCard: Self { Self(.get, "circle/card") }
}

extension APIRequest where Answer == PersonReport {
    /// Asks the person of a card for trust.
    package static func addPerson(card: String) -> Self {
        Self(.post, "circle/people", body: TextForm(text: card), requiredPeers: .everybody)
    }

    /// Accepts the request of a person, or asks a person in whom trust was revoked again.
    package static func accept(_ person: PersonName) -> Self {
        Self(.post, "circle/people/{person}/accept", ["person": person.text], requiredPeers: .everybody)
    }

    /// Confirms that the safety number on the person's screen has these digits.
    package static func verify(_ person: PersonName, digits: String) -> Self {
        Self(.post, "circle/people/{person}/verify", ["person": person.text], body: TextForm(text: digits))
    }

    /// Revokes the trust in a person.
    package static func revokeTrust(in person: PersonName) -> Self {
        Self(.delete, "circle/people/{person}", ["person": person.text])
    }
}

extension APIRequest where Answer == DoneReport {
    /// Declines the request of a person, and refuses further ones of the person's devices if wanted.
    package static func decline(_ person: PersonName, ignoringDevices: Bool = false) -> Self {
        let body = DeclineForm(ignoreDevices: ignoringDevices)
        return Self(.post, "circle/people/{person}/decline", ["person": person.text], body: body)
    }

    /// Notifies the creators that thoughts were seen, by their first and last number.
    package static func noteOpened(_ conversation: ConversationName, from first: UInt64, to last: UInt64) -> Self {
        let body = OpenedForm(first: first, last: last)
        return Self(
            .post,
            "circle/conversations/{conversation}/opened",
            ["conversation": conversation.text],
            body: body
        )
    }

    /// Streams each change in a conversation.
    package static func follow(_ conversation: ConversationName) -> Self {
        Self(.post, "circle/conversations/{conversation}/follow", ["conversation": conversation.text])
    }
}

extension APIRequest where Answer == ThoughtReport {
    /// Sends a thought to a conversation.
    package static func say(_ text: String, in conversation: ConversationName) -> Self {
        thought(ThoughtForm(text: text), in: conversation)
    }

    /// Sends the content of a file to a conversation.
    package static func attach(_ attachment: Attachment, in conversation: ConversationName) -> Self {
        let form = ThoughtForm(
            mediaType: attachment.kind,
            base64: Base64.encode(attachment.content),
            contentType: attachment.contentType,
            fileName: attachment.fileName
        )
        return thought(form, in: conversation)
    }

    private static func thought(_ form: ThoughtForm, in conversation: ConversationName) -> Self {
        Self(.post, "circle/conversations/{conversation}/thoughts", ["conversation": conversation.text], body: form)
    }
}

extension APIRequest where Answer == ThoughtContentReport {
    /// The content of a thought, which is named by its public id or its number.
    package static func content(of thought: String, in conversation: ConversationName) -> Self {
        Self(
            .get,
            "circle/conversations/{conversation}/thoughts/{thought}",
            ["conversation": conversation.text, "thought": thought]
        )
    }
}

extension APIRequest where Answer == ThoughtsReport {
    /// The newest thoughts of a conversation, or those that contain a text.
    package static func thoughts(
        in conversation: ConversationName,
        before number: UInt64? = nil,
        limit: Int,
        search: String? = nil
    ) -> Self {
        Self(
            .get,
            "circle/conversations/{conversation}/thoughts",
            ["conversation": conversation.text],
            query: ["before": number.map { "\($0)" }, "limit": "\(limit)", "search": search]
        )
    }
}
