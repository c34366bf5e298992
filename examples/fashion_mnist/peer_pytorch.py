#!/usr/bin/env python3
"""Trains the network of fashion_mnist in PyTorch, for comparison, with the same batches, optimizer and rates. The
initial weights have the same distribution. Prints each epoch's loss, accuracy and time.

bf16 is torch.autocast with weights of float. As in fashion_mnist, the data set lies on the device, and the host waits
once an epoch. Needs PyTorch and a GPU.
"""

import argparse
import gzip
import math
import pathlib
import statistics
import struct
import time

import torch

DEVICE = "cuda"


def read_idx(folder: pathlib.Path, name: str) -> torch.Tensor:
    with gzip.open(folder / f"{name}.gz") as file:
        dimensions = struct.unpack(">I", file.read(4))[0] & 255
        shape = struct.unpack(f">{dimensions}I", file.read(4 * dimensions))
        return torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).reshape(shape)


def pictures_and_labels(folder: pathlib.Path, prefix: str) -> tuple[torch.Tensor, torch.Tensor]:
    pictures = read_idx(folder, f"{prefix}-images-idx3-ubyte")
    return pictures.reshape(len(pictures), -1).to(DEVICE), read_idx(folder, f"{prefix}-labels-idx1-ubyte").to(DEVICE).long()


def network(inputs: int, widths: list[int]) -> torch.nn.Sequential:
    layers: list[torch.nn.Module] = []
    for width in [*widths, 10]:
        layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
        bound = math.sqrt(6 / inputs)
        torch.nn.init.uniform_(layers[-2].weight, -bound, bound)
        torch.nn.init.zeros_(layers[-2].bias)
        inputs = width
    return torch.nn.Sequential(*layers[:-1]).to(DEVICE)


def train(options: argparse.Namespace, seed: int) -> list[tuple[float, float, float]]:
    """Trains once. Returns the loss, the accuracy on the test set and the seconds of each epoch."""
    torch.manual_seed(seed)
    x, y = pictures_and_labels(options.data, "train")
    test_x, test_y = pictures_and_labels(options.data, "t10k")
    test_x = test_x.float() / 255
    model = network(x.shape[1], options.widths)
    rate = torch.tensor(1e-3, device=DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, fused=True, capturable=True)
    loss_of = torch.nn.CrossEntropyLoss()
    steps = len(x) // options.batch
    order = torch.zeros(steps, options.batch, dtype=torch.int64, device=DEVICE)
    number = torch.zeros(1, dtype=torch.int64, device=DEVICE)
    total = torch.zeros((), device=DEVICE)

    def logits_of(pictures: torch.Tensor) -> torch.Tensor:
        with torch.autocast(DEVICE, torch.bfloat16, enabled=options.type == "bf16", cache_enabled=not options.graph):
            return model(pictures)

    def step() -> None:
        batch = order.index_select(0, number).squeeze(0)
        number.add_(1)
        loss = loss_of(logits_of(x.index_select(0, batch).float() / 255), y.index_select(0, batch))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total.add_(loss.detach())

    if options.graph:
        first = [each.detach().clone() for each in model.parameters()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                number.zero_()
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        with torch.no_grad():  # undoes the steps before the capture
            for each, value in zip(model.parameters(), first):
                each.copy_(value)
        for state in optimizer.state.values():
            for each in state.values():
                each.zero_()

    result = []
    for epoch in range(options.epochs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        rate.fill_(1e-3 * 0.9**epoch)
        order.copy_(torch.randperm(len(x), device=DEVICE)[: order.numel()].reshape(order.shape))
        number.zero_()
        total.zero_()
        for _ in range(steps):
            graph.replay() if options.graph else step()
        with torch.no_grad():
            hits = (logits_of(test_x).argmax(1) == test_y).float().mean()
        loss, accuracy = (total / steps).item(), hits.item()
        result.append((loss, accuracy, time.perf_counter() - start))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/usr/share/datasets/fashion-mnist"))
    parser.add_argument("--type", choices=["float", "bf16"], default="float")
    parser.add_argument("--widths", type=lambda text: [int(each) for each in text.split(",")], default=[1024, 1024])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=1, help="as many trainings: mean and standard deviation of each figure")
    parser.add_argument("--graph", action="store_true", help="the step as one CUDA graph, in place of eager calls")
    options = parser.parse_args()

    trainings = [train(options, seed) for seed in range(options.seeds)]
    for epoch, runs in enumerate(zip(*trainings), 1):
        losses, accuracies, times = zip(*runs)
        spread = f" +- {statistics.stdev(losses):.4f}" if len(losses) > 1 else ""
        print(f"epoch {epoch:>2}: loss {statistics.mean(losses):.4f}{spread}, "
              f"{100 * statistics.mean(accuracies):.2f} % right; {statistics.median(times):.3g} s")


if __name__ == "__main__":
    main()
