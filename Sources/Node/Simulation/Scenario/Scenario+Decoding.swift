extension Scenario {
    /// Reads a scenario from JSON; what is unknown, missing or out of bounds is refused with the way to it.
    public init(json: some Collection<UInt8>) throws(ScenarioError) {
        var fields = try ScenarioFields(text: Array(json))
        self.init(
            name: try fields.text("name"),
            summary: try fields.text("summary"),
            nodeCount: try fields.count("nodes", in: 1...Self.nodeLimit),
            duration: try fields.duration("duration")
        )
        self.signatures = try fields.word("signatures", or: .hashed)
        let network = try fields.object("network") { fields throws(ScenarioError) in try NetworkModel(&fields) }
        self.network = network ?? NetworkModel()
        let clocks = try fields.object("clocks") { fields throws(ScenarioError) in
            ClockModel(skew: try fields.duration("skew", or: .zero))
        }
        self.clocks = clocks ?? ClockModel()
        let contacts = try fields.object("contacts") { fields throws(ScenarioError) in
            Contacts(
                pattern: try fields.word("pattern", or: nil),
                count: try fields.count("count", in: 1...1000, or: 1)
            )
        }
        self.contacts = contacts ?? Contacts()
        self.steps = try fields.objects("steps") { fields throws(ScenarioError) in try Step(&fields) }
        self.expectations = try fields.objects("expect") { fields throws(ScenarioError) in try Expectation(&fields) }
        try fields.finish()
    }
}

extension NetworkModel {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        self.init()
        let roundTrip = try fields.object("roundTrip") { fields throws(ScenarioError) in
            try RoundTrip(&fields)
        }
        if let roundTrip { self.roundTrip = roundTrip }
        self.jitter = try fields.duration("jitter", or: self.jitter)
        self.loss = try fields.share("loss", or: self.loss)
        self.asymmetry = try fields.share("asymmetry", or: self.asymmetry)
        self.dialTimeout = try fields.duration("dialTimeout", or: self.dialTimeout)
        self.idleTimeout = try fields.duration("idleTimeout", or: self.idleTimeout)
    }
}

extension NetworkModel.RoundTrip {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        if let (low, high) = try fields.range("uniform") {
            self = .uniform(low, high)
        } else if let (low, high) = try fields.range("coordinates") {
            self = .coordinates(low, high)
        } else {
            self = .fixed(try fields.duration("fixed"))
        }
    }
}

extension Scenario.Step {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        self.at = try fields.duration("at")
        var actions: [Scenario.Action] = []
        for name in Scenario.Action.names {
            let action = try fields.object(name) { fields throws(ScenarioError) in
                try Scenario.Action(name, &fields)
            }
            if let action { actions.append(action) }
        }
        guard let action = actions.first, actions.count == 1 else {
            let names = Scenario.Action.names.joined(separator: ", ")
            throw .invalid(path: fields.path(to: "at"), reason: "needs exactly one action beside it: \(names)")
        }
        self.action = action
    }
}

extension Scenario.Action {
    static let names = ["start", "partition", "revoke", "clockJump", "churn"]

    fileprivate init(_ name: String, _ fields: inout ScenarioFields) throws(ScenarioError) {
        switch name {
        case "start":
            let isLimited = fields.names.contains("count")
            let count = try fields.count("count", in: 1...Scenario.nodeLimit, or: 1)
            self = .start(count: isLimited ? count : nil, over: try fields.duration("over", or: .zero))
        case "partition":
            self = .partition(
                share: try fields.share("share"),
                lasting: try fields.duration("lasting"),
                isOneWay: try fields.flag("oneWay")
            )
        case "revoke": self = .revoke(count: try fields.count("count", in: 1...1000, or: 1))
        case "clockJump":
            self = .clockJump(
                share: try fields.share("share"),
                by: try fields.duration("by"),
                isBackwards: try fields.flag("backwards")
            )
        default:
            self = .churn(
                Scenario.Churn(
                    sessions: try fields.quantiles("sessions"),
                    absences: try fields.quantiles("absences"),
                    returning: try fields.share("returning"),
                    abrupt: try fields.share("abrupt", or: 1),
                    lasting: try fields.duration("lasting")
                )
            )
        }
    }
}

extension Scenario.Expectation {
    fileprivate init(_ fields: inout ScenarioFields) throws(ScenarioError) {
        self.figure = try fields.text("figure")
        for relation in Relation.allCases where fields.names.contains(relation.rawValue) {
            self.relation = relation
            self.bound = try fields.number(relation.rawValue)
            return
        }
        let relations = Relation.allCases.map(\.rawValue).joined(separator: ", ")
        throw .invalid(path: fields.path(to: "figure"), reason: "needs one of \(relations) beside it")
    }
}
