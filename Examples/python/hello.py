"""A service in Python, asked by the same program, and an event: the smallest use of runar.py."""

import threading

import runar

service = runar.Service("Math", "math", description="Sums and products")


@service.action("add")
def add(numbers, request):
    return sum(numbers)


@service.action("divide/{by}")
def divide(number, request):
    return number / float(request.parameters["by"])


heard = threading.Event()

with runar.Node(in_memory=True, listen="127.0.0.1:0", discovery=False, node_id="hello", log_level=4) as node:
    node.start()
    node.add_service(service)
    print("math/add says", node.request("math/add", [1, 2, 3]))
    print("math/divide/4 says", node.request("math/divide/4", 10))
    try:
        node.request("math/divide/0", 1)
    except runar.Error as error:
        print("math/divide/0 says", error)
    node.subscribe("news/*", lambda event: (print(event.topic, "says", event.decode()), heard.set()))
    node.publish("news/today", {"weather": "fine"})
    heard.wait(10)
