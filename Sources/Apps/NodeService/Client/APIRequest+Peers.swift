internal import Bytes
internal import Console

// Peers, messages, files, services, and the answers of a person.

extension APIRequest where Answer == PeersReport {
    /// The connected peers, or all that are known or found in the hash tables.
    package static func peers(all: Bool) -> Self {
        Self(.get, "peers", query: ["all": all ? "1" : "0", "find": all ? "1" : "0"])
    }
}

extension APIRequest where Answer == ConnectReport {
    /// Dials a peer, in a network that both are in if none is named.
    package static func connect(_ peer: PeerName, network: NetworkName?, address: String?, overRelay: Bool) -> Self {
        let form = ConnectForm(network: network?.text, address: address, relay: overRelay)
        return Self(.post, "peers/{peer}/connect", ["peer": peer.text], body: form)
    }

    package static func connectByText(_ text: String) -> Self {
        Self(.post, "connect", body: TextForm(text: text))
    }
}

extension APIRequest where Answer == SentReport {
    package static func send(_ peer: PeerName, text: String) -> Self {
        Self(
            .post,
            "peers/{peer}/messages",
            ["peer": peer.text],
            body: TextForm(text: text),
            requiredPeers: .peer(peer)
        )
    }
}

extension APIRequest where Answer == FileSentReport {
    /// Sends a file of this machine.
    package static func sendFile(_ peer: PeerName, path: String) -> Self {
        Self(
            .post,
            "peers/{peer}/local-files",
            ["peer": peer.text],
            body: PathForm(path: path),
            requiredPeers: .peer(peer)
        )
    }
}

extension APIRequest where Answer == ServicesReport {
    /// The services of a peer, or of all connected peers and this device.
    package static func services(_ peer: PeerName?, network: NetworkName?) -> Self {
        // The first peer connected is not all of them.
        Self(.get, "services", query: ["peer": peer?.text, "network": network?.text], requiredPeers: .everybody)
    }
}

extension APIRequest where Answer == CalledReport {
    package static func call(_ form: CallForm) -> Self {
        let network = form.network.map { NetworkName($0) }
        return Self(.post, "call", body: form, requiredPeers: .memberOfOne(network))
    }
}

extension APIRequest where Answer == DoneReport {
    /// Streams arrivals until the request is cancelled.
    package static func listen(_ form: ListenForm) -> Self { Self(.post, "listen", body: form) }

    /// Confirms a message of ``listen(_:)``, which the next one waits for.
    package static func confirmDelivery(_ number: Int) -> Self {
        Self(.post, "deliveries/{number}", ["number": "\(number)"])
    }

    /// Offers a service; each request arrives as an update and is answered with ``answerCall(_:_:)``.
    package static func serve(_ form: ServingForm) -> Self { Self(.post, "serve", body: form) }

    package static func answerCall(_ number: Int, _ answer: CallAnswer) -> Self {
        let form =
            switch answer {
            case .result(let bytes): CallAnswerForm(result: Base64.encode(Array(bytes)))
            case .failure(let why): CallAnswerForm(failure: why)
            }
        return Self(.post, "calls/{number}", ["number": "\(number)"], body: form)
    }

    /// The person's decision about an offered file: a directory, or nil for no.
    package static func answerOffer(_ number: Int, directory: String?) -> Self {
        let form = OfferForm(accept: directory != nil, directory: directory)
        return Self(.post, "offers/{number}", ["number": "\(number)"], body: form)
    }

    /// The person's decision about a device that uses an invitation.
    package static func answerJoin(_ number: Int, isAllowed: Bool) -> Self {
        let form = DecisionForm(allowed: isAllowed, label: nil, lifeSeconds: nil)
        return Self(.post, "joins/{number}", ["number": "\(number)"], body: form)
    }
}
