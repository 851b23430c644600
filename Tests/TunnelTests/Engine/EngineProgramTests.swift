internal import Testing

@testable internal import Tunnel

@Suite("Engine programs") struct EngineProgramTests {
    private func resources(_ variables: [String: String]) -> EngineResources? {
        EngineResources { variables[$0] }
    }

    @Test func `our engine reads the descriptors that it is announced`() throws {
        let program = EngineProgram.own(path: "/usr/bin/runar")
        let pairs = program.environment(queues: 2, sockets: 2).map { text in
            let parts = text.split(separator: "=", maxSplits: 1)
            return (String(parts[0]), String(parts[1]))
        }
        let found = try #require(resources(Dictionary(uniqueKeysWithValues: pairs)))
        #expect(found.queues == [3, 4])
        #expect(found.sockets == [5, 6])
        #expect(found.control == 7)
        #expect(found.supervisor == 8)
        #expect(program.arguments(interface: "exit0") == ["tunnel-engine"])
    }

    @Test func `wireguard-go gets its variables`() {
        let program = EngineProgram.wireguardGo(path: "/usr/bin/wireguard-go")
        #expect(
            program.environment(queues: 1, sockets: 0)
                == ["WG_TUN_FD=3", "WG_UAPI_FD=4", "WG_PROCESS_FOREGROUND=1", "LOG_LEVEL=error"]
        )
        #expect(program.environment(queues: 0, sockets: 0).first == "WG_UAPI_FD=3")
        #expect(program.arguments(interface: "exit0") == ["-f", "exit0"])
    }

    @Test(arguments: [
        ("RUNAR_TUN_FDS", nil), ("RUNAR_TUN_FDS", ""), ("RUNAR_TUN_FDS", "2"), ("RUNAR_TUN_FDS", "3,"),
        ("RUNAR_TUN_FDS", "3,3"), ("RUNAR_TUN_FDS", "-1"), ("RUNAR_TUN_FDS", "99999999999"), ("RUNAR_UDP_FDS", "3"),
        ("RUNAR_UDP_FDS", "4,5,6"), ("RUNAR_UDP_FDS", "x"), ("WG_UAPI_FD", "4"), ("WG_UAPI_FD", "5,6"),
        ("WG_UAPI_FD", nil), ("RUNAR_SUPERVISOR_FD", nil), ("RUNAR_SUPERVISOR_FD", "5"), ("RUNAR_SUPERVISOR_FD", "6,7"),
    ]) func `descriptors that are missing, shared or no numbers are refused`(name: String, value: String?) {
        var variables = ["RUNAR_TUN_FDS": "3", "RUNAR_UDP_FDS": "4", "WG_UAPI_FD": "5", "RUNAR_SUPERVISOR_FD": "6"]
        #expect(resources(variables) != nil)
        variables[name] = value
        #expect(resources(variables) == nil)
    }
}
