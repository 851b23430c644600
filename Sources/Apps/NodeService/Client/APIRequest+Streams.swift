internal import Circle
internal import Console

// The inner circle: streams, the devices of this device's person, and the people who are blocked.

extension APIRequest where Answer == StreamReport {
    /// Makes a stream without members.
    package static func makeStream(name: String, blurb: String?, isCreatorAlone: Bool) -> Self {
        let form = StreamForm(name: name, blurb: blurb, posting: isCreatorAlone ? .creator : .members)
        return Self(.post, "circle/streams", body: form)
    }

    /// Invites a person to a stream.
    package static func invite(_ person: PersonName, to stream: StreamName) -> Self {
        Self(.put, "circle/streams/{stream}/members/{person}", ["stream": stream.text, "person": person.text])
    }

    /// Removes a person from a stream.
    package static func remove(_ person: PersonName, from stream: StreamName) -> Self {
        Self(.delete, "circle/streams/{stream}/members/{person}", ["stream": stream.text, "person": person.text])
    }

    /// Joins a stream.
    package static func joinStream(_ stream: StreamName) -> Self {
        Self(.post, "circle/streams/{stream}/join", ["stream": stream.text])
    }

    /// Leaves a stream, or declines the invitation.
    package static func leaveStream(_ stream: StreamName) -> Self {
        Self(.post, "circle/streams/{stream}/leave", ["stream": stream.text])
    }
}

extension APIRequest where Answer == DoneReport {
    /// Deletes a stream with its thoughts.
    package static func deleteStream(_ stream: StreamName) -> Self {
        Self(.delete, "circle/streams/{stream}", ["stream": stream.text])
    }
}

extension APIRequest where Answer == CircleReport {
    /// Gives this person and the circle to another device.
    package static func addDevice(_ device: PeerName) -> Self {
        Self(.post, "circle/devices/{peer}", ["peer": device.text], requiredPeers: .peer(device))
    }

    /// Permits another device of this person to give the circle to this one.
    package static func expectDevice(_ device: PeerName) -> Self {
        Self(.post, "circle/devices/{peer}/expect", ["peer": device.text])
    }

    /// Takes a device off the card of this device's person.
    package static func removeDevice(_ device: PeerName) -> Self {
        Self(.delete, "circle/devices/{peer}", ["peer": device.text])
    }

    /// Blocks a person, with the severity of each reason.
    package static func block(_ person: PersonName, reasons: [String: Int]) -> Self {
        Self(.put, "circle/blocked/{person}", ["person": person.text], body: BlockForm(reasons: reasons))
    }

    /// Lifts the block of a person.
    package static func unblock(_ person: PersonName) -> Self {
        Self(.delete, "circle/blocked/{person}", ["person": person.text])
    }
}
