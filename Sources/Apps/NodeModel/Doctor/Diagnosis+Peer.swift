internal import Identity

// One peer.
extension Diagnosis {
    mutating func lookAt(_ peer: PeerFacts, _ node: NodeFacts) {
        let name = peer.label ?? String(peer.peerIdText.prefix(8))
        if peer.connected { return lookAtConnection(peer, name) }
        guard node.isRunning else { return }
        if peer.networks.isEmpty {
            problem(
                "no-shared-network",
                "this device and \(name) have no known network in common",
                "join one of its networks, or invite it into one of yours"
            )
        } else {
            lookAtAttempt(peer, name)
        }
    }

    private mutating func lookAtConnection(_ peer: PeerFacts, _ name: String) {
        let path = peer.path ?? "over an unknown path"
        guard peer.relayed else { return ok("peer-direct", "\(name) is connected: \(path)") }
        note("peer-relayed", "\(name) is connected \(path), not directly\(reasonForRelay(peer))", adviceForRelay(peer))
    }

    private func isHardPair(_ peer: PeerFacts) -> Bool {
        peer.history.last { $0.event == "mappings" }?.reason == "endpointDependent/endpointDependent"
    }

    private func reasonForRelay(_ peer: PeerFacts) -> String {
        if isHardPair(peer) { return ": both NATs show each peer another port" }
        let tried = Set(peer.history.filter { $0.event == "tried" }.compactMap(\.address)).count
        switch tried {
        case 0: return ""
        case 1: return ": the only address that was tried did not answer"
        default: return ": none of the \(tried) addresses that were tried answered"
        }
    }

    private func adviceForRelay(_ peer: PeerFacts) -> String {
        guard isHardPair(peer) else { return "nothing to do: the node keeps looking for a direct path" }
        let how = advice(" (`--listen`, `runar network address`)", inConsole: "")
        return "IPv6, or a forwarded port on one of the two routers\(how), makes it direct"
    }

    // MARK: Not connected

    private mutating func lookAtAttempt(_ peer: PeerFacts, _ name: String) {
        guard let last = peer.history.last(where: { Self.ends.contains($0.event) }) else {
            return lookAtSilence(peer, name)
        }
        switch last.event {
        case "refusedByPeer":
            problem(
                "refused-by-peer",
                "\(name) refused this device: \(last.reason ?? "")",
                advice(
                    "look at the memberships above, and let `runar doctor` run there too",
                    inConsole: "look at the memberships above, and check the connection there, too"
                )
            )
        case "refusedHere":
            problem(
                "refused-here",
                "this device refused \(name): \(last.reason ?? "")",
                advice(
                    "its owner issues a new token, or `runar doctor` there says what is wrong",
                    inConsole: "the owner renews its membership; checking the connection there says what is wrong"
                )
            )
        case "callFailed": explainFailedSession(last.reason ?? "", name)
        default:
            let places = Set(peer.history.filter { $0.event == "notReached" }.compactMap(\.address)).sorted()
            problem(
                "peer-unreachable",
                "\(name) does not answer" + (places.isEmpty ? "" : " at \(places.joined(separator: ", "))"),
                advice(
                    "does `runar up` run there? If its address changed, `runar network address` there prints it;",
                    inConsole: "does Runar run there? If its address changed, its code under Peers, Connect has it;"
                ) + " a third member that is always on helps the two to connect"
            )
        }
    }

    /// The events that end an attempt.
    private static let ends: Set = ["refusedByPeer", "refusedHere", "callFailed", "notReached"]

    private mutating func lookAtSilence(_ peer: PeerFacts, _ name: String) {
        guard peer.addresses.isEmpty else {
            return note(
                "not-tried",
                "\(name) is not connected, and no attempt was made since the node started",
                advice("try it with `runar send \(name) hello`", inConsole: "send it a message to try it")
            )
        }
        problem(
            "no-address",
            "\(name) is not connected, and no address of it is known",
            advice(
                "`runar network address` there prints one, `runar connect` here takes it;",
                inConsole: "show its code there and scan it here, both under Peers, Connect;"
            ) + " on the same local network it is found by itself"
        )
    }

    private mutating func explainFailedSession(_ reason: String, _ name: String) {
        let (message, advice) =
            switch reason {
            case "nobodyToAsk":
                (
                    "no member is connected that could help this device and \(name) to connect",
                    "keep a third member of the network on and connected to both"
                )
            case "notConnected":
                (
                    "no member that was asked is connected to \(name)",
                    "it is probably off, asleep or without a network: check it there"
                )
            case "busy", "refused": ("the members that could help were busy", "try again in a minute")
            default:
                (
                    "\(name) is online and was notified, but no path leads to it and no member relays",
                    "keep a third member of the network on and connected to both: it relays"
                )
            }
        problem("call-\(reason)", message, advice)
    }
}
