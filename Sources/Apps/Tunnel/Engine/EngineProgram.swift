internal import Platform

/// A program with a data plane that reads its descriptors from the environment.
package enum EngineProgram: Equatable, Sendable {
    /// This package's own command, at a path.
    case own(path: String)
    /// The Go implementation (0.0.20220316 or later), at a path; it takes one queue, made with packet information, and
    /// continues after the end of a killed supervisor.
    case wireguardGo(path: String)

    /// The path of the file to execute.
    package var path: String {
        switch self {
        case .own(let path), .wireguardGo(let path): path
        }
    }

    /// The arguments for an interface.
    func arguments(interface: String) -> [String] {
        switch self {
        case .own: ["tunnel-engine"]
        case .wireguardGo: ["-f", interface]
        }
    }

    /// The environment that announces the descriptors, which are passed as numbers from 3: first the queues, then the UDP
    /// sockets, then the socket of the configuration protocol, and that of the supervisor for our own engine.
    func environment(queues: Int, sockets: Int) -> [String] {
        let first = EngineResources.firstDescriptor
        func numbers(_ start: Int, _ count: Int) -> String {
            (0..<count).map { "\(Int(first) + start + $0)" }.joined(separator: ",")
        }
        let control = "\(EngineResources.controlVariable)=\(numbers(queues + sockets, 1))"
        switch self {
        case .own:
            return [
                "\(EngineResources.queuesVariable)=\(numbers(0, queues))",
                "\(EngineResources.socketsVariable)=\(numbers(queues, sockets))",
                control,
                "\(EngineResources.supervisorVariable)=\(numbers(queues + sockets + 1, 1))",
            ]
        case .wireguardGo:
            let device = queues == 0 ? [] : ["WG_TUN_FD=\(first)"]
            return device + [control, "WG_PROCESS_FOREGROUND=1", "LOG_LEVEL=error"]
        }
    }
}
