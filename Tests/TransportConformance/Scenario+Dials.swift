internal import Transport

extension Scenario {
    static let dials = [
        Scenario("both sides know who is across and who dialled") { kit in
            try await kit.withEndpoints { first, second in
                let (dialled, accepted) = try await connect(first, to: second)
                try checkEqual(dialled.remotePeerId, second.localPeerId, "the peer that was dialled")
                try checkEqual(accepted.remotePeerId, first.localPeerId, "the peer that dialled")
                try check(dialled.isDialler && !accepted.isDialler, "the sides are mixed up")
                try checkEqual(dialled.remoteAddress, try address(of: second), "the address that was dialled")
                try checkEqual(accepted.remoteAddress, try address(of: first), "the address of the dialler")
            }
        },
        Scenario("another peer than the expected one is refused and never accepts us") { kit in
            try await kit.withEndpoints { first, second in
                let third = try await kit.makeEndpoint()
                let target = try address(of: second)
                let error = try await failure(of: "a dial to the wrong peer") {
                    try await third.connect(to: target, expecting: first.localPeerId)
                }
                let expected = TransportError.wrongPeer(expected: first.localPeerId, found: second.localPeerId)
                try checkEqual(error, expected, "a dial to the wrong peer")
                let (dialled, accepted) = try await connect(first, to: second)
                try checkEqual(accepted.remotePeerId, first.localPeerId, "the first connection that was accepted")
                try checkEqual(dialled.remotePeerId, second.localPeerId, "the peer that was dialled")
                await third.close(code: 0)
            }
        },
        Scenario("a dial fails where nothing listens") { kit in
            try await kit.withEndpoints { first, second in
                let absent = try await kit.absentAddress()
                let error = try await failure(of: "a dial to nobody") {
                    try await first.connect(to: absent, expecting: second.localPeerId)
                }
                switch error {
                // By now another socket may have the port.
                case .connectionFailed, .timedOut, .wrongPeer: break
                default: throw ConformanceFailure("a dial to nobody: \(error)")
                }
                _ = try await connect(first, to: second)
            }
        },
        Scenario("connections that wait for accept come in their order and work") { kit in
            try await kit.withEndpoints { first, second in
                let target = try address(of: second)
                var dialled: [any Connection] = []
                for _ in 0..<3 {
                    dialled.append(try await first.connect(to: target, expecting: second.localPeerId))
                }
                for connection in dialled {
                    let accepted = try required(await second.accept(), "accept returned nil")
                    let (own, other) = try exports(of: connection, accepted, label: "order")
                    try checkEqual(other, own, "the connections in their order")
                    _ = try await openStream(from: connection, to: accepted)
                }
            }
        },
        Scenario("exported keying material agrees and belongs to one connection and label") { kit in
            try await kit.withEndpoints { first, second in
                let (dialled, accepted) = try await connect(first, to: second)
                let (own, other) = try exports(of: dialled, accepted, label: "a label")
                try checkEqual(own, other, "both ends of a connection")
                try checkEqual(own.count, 32, "its length")
                let (differently, _) = try exports(of: dialled, accepted, label: "another label")
                try check(differently != own, "two labels export the same")
                let (again, acceptedAgain) = try await connect(first, to: second)
                let (next, otherNext) = try exports(of: again, acceptedAgain, label: "a label")
                try checkEqual(next, otherNext, "both ends of another connection")
                try check(next != own, "two connections export the same")
            }
        },
        Scenario("two peers who dial each other at once get two connections that work") { kit in
            try await kit.withEndpoints { first, second in
                let (firstAddress, secondAddress) = (try address(of: first), try address(of: second))
                async let there = first.connect(to: secondAddress, expecting: second.localPeerId)
                async let back = second.connect(to: firstAddress, expecting: first.localPeerId)
                let (dialledThere, dialledBack) = (try await there, try await back)
                let acceptedThere = try required(await second.accept(), "the second endpoint accepted nothing")
                let acceptedBack = try required(await first.accept(), "the first endpoint accepted nothing")
                _ = try await openStream(from: dialledThere, to: acceptedThere)
                _ = try await openStream(from: dialledBack, to: acceptedBack)
            }
        },
        Scenario("many dials at once all succeed") { kit in
            try await kit.withEndpoints { first, second in
                let target = try address(of: second)
                let server = Task {
                    var accepted: [any Connection] = []
                    while accepted.count < 20, let connection = try await second.accept() {
                        accepted.append(connection)
                    }
                    return accepted
                }
                let dialled = try await withThrowingTaskGroup { group in
                    for _ in 0..<20 {
                        group.addTask { try await first.connect(to: target, expecting: second.localPeerId) }
                    }
                    return try await group.reduce(into: [any Connection]()) { $0.append($1) }
                }
                try checkEqual(Set(dialled.map(ObjectIdentifier.init)).count, 20, "the dialled connections")
                try checkEqual(try await server.value.count, 20, "the accepted connections")
            }
        },
    ]

    private static func exports(
        of first: any Connection,
        _ second: any Connection,
        label: String
    ) throws -> ([UInt8], [UInt8]) {
        (
            try first.exportKeyingMaterial(label: label, byteCount: 32),
            try second.exportKeyingMaterial(label: label, byteCount: 32)
        )
    }
}
