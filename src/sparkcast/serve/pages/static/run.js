// What should I run? Deadline, budget and confidence are answered here, from the quantiles of each candidate, as the
// server would (recommend/ties.py); it confirms, and wins. Other sliders ask the server.
(function () {
  "use strict";
  var get = function (id) { return document.getElementById(id); };
  var form = get("controls"), data = read(), asking = null, pause = 0, slow = 0, spoken = 0, last = 0, measured = [];
  function read() { return JSON.parse(get("candidates").textContent || "{}"); }

  // ---------------------------------------------------------------- numbers
  function scoreBelow(quantiles, limit) {
    var scores = data.scores, n = quantiles.length;
    if (limit < quantiles[0]) return -9;
    if (limit > quantiles[n - 1]) return 9;
    var low = 0, high = n - 1;
    while (high - low > 1) { var mid = (low + high) >> 1; if (quantiles[mid] <= limit) low = mid; else high = mid; }
    var gap = quantiles[high] - quantiles[low];
    return gap > 0 ? scores[low] + (scores[high] - scores[low]) * (limit - quantiles[low]) / gap : scores[high];
  }
  function below(z) { // of a standard normal distribution
    if (z >= 9) return 1;
    if (z <= -9) return 0;
    var t = 1 / (1 + 0.2316419 * Math.abs(z)), p = Math.exp(-z * z / 2) * 0.39894228 * t *
      (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    return z > 0 ? 1 - p : p;
  }
  function scoreOf(share) {
    var low = -8, high = 8;
    for (var k = 0; k < 50; k++) { var mid = (low + high) / 2; if (below(mid) < share) low = mid; else high = mid; }
    return low;
  }
  function quantile(quantiles, score) {
    var scores = data.scores, n = scores.length;
    if (score <= scores[0]) return quantiles[0];
    for (var k = 1; k < n; k++) if (score <= scores[k])
      return quantiles[k - 1] + (quantiles[k] - quantiles[k - 1]) * (score - scores[k - 1]) / (scores[k] - scores[k - 1]);
    return quantiles[n - 1];
  }
  function inHundred(p) { return p > 0.995 ? "more than 99 in 100" : p < 0.01 ? "less than 1 in 100" : Math.floor(100 * p + 1e-9) + " in 100"; }
  function short(p) { return p > 0.995 ? "> 99%" : p < 0.01 ? "< 1%" : Math.floor(100 * p + 1e-9) + "%"; }

  // ---------------------------------------------------------------- sliders
  var sliders = {};
  form.querySelectorAll("[data-slider]").forEach(function (part) {
    var range = part.querySelector("input[type=range]"), steps = part.querySelector("[data-steps]");
    if (!range) return;
    var slider = sliders[part.dataset.slider] = {
      part: part, range: range, text: part.querySelector("input[type=text]"), steps: JSON.parse(steps.textContent),
      asks: part.hasAttribute("data-server"), typed: null
    };
    range.hidden = false;
    fill(slider);
    range.addEventListener("input", function () {
      last = performance.now(); slider.typed = null;
      var step = slider.steps[range.value];
      slider.text.value = step[1]; fill(slider);
      if (!slider.asks) answer();
      confirm(150, slider.asks);
    });
    range.addEventListener("change", function () { confirm(0, slider.asks); });
    slider.text.addEventListener("change", function () { slider.typed = slider.text.value; load(address()); });
  });
  function fill(slider) {
    var range = slider.range, most = +range.max || 1;
    range.style.setProperty("--v", 100 * range.value / most + "%");
    range.setAttribute("aria-valuetext", slider.text.value);
  }
  function valueOf(name) {
    var slider = sliders[name];
    if (!slider) return null;
    if (slider.typed !== null || slider.steps[slider.range.value][1] !== slider.text.value) return data.limits ? data.limits[name] : null;
    return slider.steps[slider.range.value][0];
  }
  function limits() {
    var confidence = valueOf("confidence");
    return { within: valueOf("within"), budget: valueOf("budget"), confidence: confidence === null ? 0.95 : confidence };
  }

  // ---------------------------------------------------------------- the answer
  function states(limit) {
    var wanted = limit.confidence - 1e-9;
    return data.rows.map(function (row) {
      if (limit.within === null && limit.budget === null) return ["none", 1, 1];
      var time = limit.within === null ? 1 : below(scoreBelow(row.time, limit.within));
      var money = limit.budget === null || !row.money ? 1 : below(scoreBelow(row.money, limit.budget));
      var both = data.joint ? time * money : Math.min(time, money);
      return [time < wanted ? "late" : both >= wanted ? "kept" : "over", time, money];
    });
  }
  function cheapest(rows) {
    if (!data.spent) return rows;
    var best = rows.reduce(function (a, b) { return data.spent[b] < data.spent[a] ? b : a; });
    return rows.filter(function (row) { return data.alike[best][row] === "1"; });
  }
  function ran(row) { return data.rows[row].runs > 0; }
  function select(good) { // as ties.select
    var best = good[0], made = good.filter(ran);
    if (!ran(best) && made.length && data.doubtful[best][made[0]] === "1") {
      best = made[0]; good = good.slice(good.indexOf(best));
    }
    var tied = good.filter(function (row) { return data.ties[best][row] === "1"; });
    var cheap = cheapest(ran(best) ? tied.filter(ran) : tied), known = cheap.filter(ran);
    return (known.length ? known : cheap)[0];
  }
  function answer() {
    if (!data.rows || !data.rows.length) return;
    var limit = limits(), found = states(limit), good = [], chosen;
    data.limits = limit;
    found.forEach(function (state, at) { if (state[0] === "kept" || state[0] === "none") good.push(at); });
    if (good.length) chosen = select(good);
    else chosen = nearest(limit);
    words(limit, found, chosen, good.length > 0);
    draw(limit, found, chosen);
    return chosen;
  }
  function nearest(limit) {
    var z = scoreOf(limit.confidence), best = 0, least = Infinity;
    data.rows.forEach(function (row, at) {
      var gap = (limit.within === null ? 0 : Math.max(1, quantile(row.time, z) / limit.within)) +
        (limit.budget === null || !row.money ? 0 : Math.max(1, quantile(row.money, z) / limit.budget));
      if (gap < least) { least = gap; best = at; }
    });
    return best;
  }
  function put(id, text) { var where = get(id); if (where && where.textContent !== text) where.textContent = text; }
  function words(limit, found, at, isKept) {
    var row = data.rows[at], parts = [], told = [];
    if (limit.within !== null) parts.push(sliders.within.text.value);
    if (limit.budget !== null) parts.push(sliders.budget.text.value);
    put("title", isKept ? "Run it with " + row.title + "." :
      "Nothing keeps " + parts.join(" and ") + " in " + Math.round(100 * limit.confidence) + " of 100 runs.");
    put("why", isKept ? "Expect " + row.expect + "." : "The nearest is " + row.title + ".");
    if (limit.within !== null) told.push([found[at][1], "finish within " + sliders.within.text.value + "; 90 of 100 take " + row.takes]);
    if (limit.budget !== null && row.money) told.push([found[at][2], "cost at most " + sliders.budget.text.value + "; 90 of 100 cost " + row.costs]);
    var list = get("verdicts");
    if (list) {
      list.textContent = "";
      told.forEach(function (one) {
        var item = document.createElement("li"), big = document.createElement("b");
        item.className = one[0] >= limit.confidence - 1e-9 ? "y" : "x";
        big.textContent = inHundred(one[0]);
        item.append(big, (isKept ? "" : "would ") + one[1]);
        list.append(item);
      });
    }
    get("paste").hidden = !isKept;
    put("notes", "");
    var stick = get("stick"), big = document.createElement("b");
    stick.textContent = "";
    big.textContent = isKept ? row.title : "Nothing fits";
    stick.append(big, document.createElement("br"), isKept ? (told.length ? inHundred(told[0][0]) + " in time" : row.expect) : "nearest: " + row.title);
    clearTimeout(spoken);
    spoken = setTimeout(function () {
      sparkcast.say(get("title").textContent + " " + (told.length ? inHundred(told[0][0]) + " " + told[0][1].split(";")[0] + "." : ""));
    }, 700);
  }

  // ---------------------------------------------------------------- the picture
  function share(seconds) { return (seconds - data.across[0]) / (data.across[1] - data.across[0]); }
  function percent(x) { return (100 * Math.min(Math.max(x, 0), 1)).toFixed(2) + "%"; }
  function made(kind, attributes) {
    var one = document.createElementNS("http://www.w3.org/2000/svg", kind);
    Object.keys(attributes).forEach(function (name) { one.setAttribute(name, attributes[name]); });
    return one;
  }
  function rule(svg, at) {
    var line = svg.querySelector(".m-limit");
    if (at === null) { if (line) line.remove(); return; }
    if (!line) svg.append(line = made("line", { "class": "m-limit", y1: 0, y2: "100%" }));
    line.setAttribute("x1", at); line.setAttribute("x2", at);
  }
  function draw(limit, found, chosen) {
    var table = get("options");
    if (!table) return;
    var x = limit.within === null ? null : share(limit.within), inside = x !== null && x >= 0 && x <= 1;
    var at = inside ? percent(x) : null, rows = table.tBodies[0].rows, n = rows.length;
    var first = n <= data.shown ? 0 : Math.min(Math.max(0, chosen - data.before), n - data.shown);
    for (var k = 0; k < n; k++) {
      var row = rows[k], shown = k >= first && k < first + data.shown;
      if (row.hidden === shown) row.hidden = !shown;
      if (!shown) continue;
      var look = "c " + found[k][0] + (k === chosen ? " answer" : "");
      if (row.className !== look) row.className = look;
      var cell = row.cells[2], chance = limit.within === null ? "" : short(found[k][1]);
      if (cell.textContent !== chance) cell.textContent = chance;
      rule(row.cells[1].firstElementChild, at);
    }
    get("cut").hidden = n <= data.shown;
    get("cut").textContent = first + " rows above and " + Math.max(0, n - first - data.shown) + " below are not drawn.";
    table.querySelectorAll(".rule").forEach(function (svg) { rule(svg, at); });
    var name = table.querySelector(".limit-name");
    name.textContent = "";
    if (at !== null) {
      var label = made("text", { x: at, y: 11, "class": "limit", "text-anchor": x < 0.15 ? "start" : x > 0.85 ? "end" : "middle" });
      label.textContent = "deadline " + sliders.within.text.value;
      name.append(label);
    }
    var late = 0;
    table.querySelectorAll(".heap").forEach(function (svg) { late = heap(svg, data.rows[chosen], limit.within, x, at); });
    put("late", late ? String(late) : "none");
  }
  function heap(svg, row, within, x, at) {
    var bins = data.dots.bins[svg.dataset.width], height = data.dots.height, origin = at === null ? 0 : x, heaps = {}, most = 1, places = [], late = 0;
    for (var k = 0; k < 50; k++) {
      var seconds = quantile(row.time, scoreOf((k + 0.5) / 50)), where = share(seconds), isLate = within !== null && seconds > within;
      if (isLate) late++;
      if (where < 0 || where > 1) continue;
      var bin = Math.floor((where - origin) * bins);
      heaps[bin] = (heaps[bin] || 0) + 1; most = Math.max(most, heaps[bin]);
      places.push([bin, heaps[bin], isLate]);
    }
    var step = Math.min(svg.dataset.width === "wide" ? 7.5 : 5.5, (height - 8) / most), axis = svg.querySelector(".m-axis");
    svg.textContent = "";
    places.forEach(function (one) {
      svg.append(made("circle", {
        "class": one[2] ? "m-missed" : "m-predicted", r: (step / 2 - 0.7).toFixed(3),
        cx: (100 * (origin + (one[0] + 0.5) / bins)).toFixed(2) + "%", cy: (height - step * (one[1] - 0.5)).toFixed(2)
      }));
    });
    rule(svg, at);
    svg.append(axis);
    return late;
  }

  // ---------------------------------------------------------------- the server
  function pairs() {
    var found = new URLSearchParams();
    new FormData(form).forEach(function (value, name) {
      if (value === "" || (value === "any" && name !== "within")) return;
      var slider = sliders[name];
      if (slider && slider.typed === null && slider.steps[slider.range.value][1] === value) {
        var step = slider.steps[slider.range.value][0];
        value = step === null ? "any" : name === "within" ? step + "s" : name === "confidence" || name === "budget" ? String(step) : value;
      }
      if (name === "confidence" && value === "0.95") return;
      if (name === "running" && value === "0" && !/running=/.test(location.search)) return;
      found.append(name, value);
    });
    return found;
  }
  function address() { return "/run?" + pairs(); }
  function wait(text) { get("wait").textContent = text; }
  function confirm(after, redraw) {
    clearTimeout(pause);
    pause = setTimeout(function () { redraw ? load(address()) : ask(); }, after);
  }
  function ask() {
    if (asking) asking.abort();
    var mine = asking = new AbortController(), where = address();
    clearTimeout(slow);
    slow = setTimeout(function () { wait("Updating"); }, 300);
    fetch(where.replace("/run?", "/run/answer?"), { signal: mine.signal }).then(function (reply) {
      if (!reply.ok) throw new Error(reply.status);
      return reply.json();
    }).then(function (parts) {
      if (mine !== asking) return;
      history.replaceState(null, "", where);
      get("answer").innerHTML = parts.answer;
      get("line-part").innerHTML = parts.line;
      get("pins").innerHTML = parts.pins;
      var open = get("trust") && get("trust").open;
      get("trust-part").innerHTML = parts.trust;
      get("trust").open = open;
      get("stick").innerHTML = parts.stick;
      get("paste").hidden = parts.kind !== "answer";
      Object.keys(parts.notes).forEach(function (name) {
        var note = sliders[name] && sliders[name].part.querySelector("[data-note]");
        if (note) note.textContent = parts.notes[name];
      });
      if (data.rows && parts.at !== null) { var limit = limits(); draw(limit, states(limit), parts.at); }
      sparkcast.show(document);
      clearTimeout(slow); wait("");
    }).catch(function (error) {
      clearTimeout(slow);
      if (error.name !== "AbortError") wait("Not updated since " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
    });
  }
  function load(where) { // other candidates: the whole page, in place
    if (asking) asking.abort();
    var mine = asking = new AbortController(), focused = document.activeElement && document.activeElement.id;
    clearTimeout(slow);
    slow = setTimeout(function () { wait("Updating"); }, 300);
    fetch(where, { signal: mine.signal, headers: { Accept: "text/html" } }).then(function (reply) { return reply.text(); }).then(function (text) {
      if (mine !== asking) return;
      var fresh = new DOMParser().parseFromString(text, "text/html");
      if (!fresh.getElementById("controls")) { location.href = where; return; }
      history.replaceState(null, "", where);
      ["answer", "chart", "pins", "line-part", "trust-part", "stick", "candidates"].forEach(function (id) { get(id).replaceWith(fresh.getElementById(id)); });
      ["choice", "paste"].forEach(function (id) { get(id).hidden = fresh.getElementById(id).hidden; });
      fresh.querySelectorAll("[data-slider]").forEach(function (part) {
        var slider = sliders[part.dataset.slider], range = part.querySelector("input[type=range]");
        if (!slider || !range) return;
        slider.steps = JSON.parse(part.querySelector("[data-steps]").textContent);
        slider.typed = null;
        slider.range.max = range.max; slider.range.value = range.getAttribute("value");
        slider.text.value = part.querySelector("input[type=text]").value;
        var note = slider.part.querySelector("[data-note]"), now = part.querySelector("[data-note]");
        if (note && now) note.textContent = now.textContent;
        fill(slider);
      });
      data = read();
      sparkcast.show(document);
      clearTimeout(slow); wait("");
      if (focused && get(focused)) get(focused).focus();
      sparkcast.say(get("title").textContent);
    }).catch(function (error) {
      clearTimeout(slow);
      if (error.name !== "AbortError") wait("Not updated since " + new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
    });
  }

  // ---------------------------------------------------------------- rows
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    var button = event.submitter;
    if (button && button.name === "pin") { pin(button); return; }
    load(address());
  });
  function pin(button) {
    var pinned = button.getAttribute("aria-pressed") === "true", own = [].slice.call(form.querySelectorAll("input[name=pin]"));
    if (pinned) own.forEach(function (one) { if (one.value === button.value) one.remove(); });
    else {
      var one = document.createElement("input");
      one.type = "hidden"; one.name = "pin"; one.value = button.value;
      form.append(one);
      if (own.length >= 4) own[0].remove();
    }
    var kept = [].map.call(form.querySelectorAll("input[name=pin]"), function (one) { return one.value; });
    document.querySelectorAll(".options button").forEach(function (one) { one.setAttribute("aria-pressed", kept.indexOf(one.value) >= 0); });
    ask();
  }
  form.querySelectorAll("select").forEach(function (select) {
    select.addEventListener("change", function () { select.id === "job" ? location.assign("/run?job=" + encodeURIComponent(select.value)) : load(address()); });
  });
  function reading(event) {
    var row = event.target.closest && event.target.closest(".options tbody tr");
    if (!row || !data.rows) return;
    var one = data.rows[row.dataset.at];
    get("reading").textContent = one.title + ": " + one.expect + "; 90 of 100 take " + one.takes + (one.runs ? "; measured in " + one.runs + (one.runs === 1 ? " run" : " runs") : "; never run");
  }
  document.addEventListener("pointerover", reading);
  document.addEventListener("focusin", reading);
  document.addEventListener("click", function (event) {
    var cell = event.target.closest && event.target.closest(".options tbody td.track");
    if (cell) cell.parentNode.querySelector("button").click();
  });
  get("keep").addEventListener("submit", function (event) { // an address of its own for the answer, as it is now
    event.preventDefault();
    var body = new URLSearchParams({ token: this.elements.token.value, asked: address() }), button = event.submitter;
    fetch("/a", { method: "POST", body: body, headers: { Accept: "application/json" } }).then(function (reply) {
      if (!reply.ok) throw new Error(reply.status);
      return reply.json();
    }).then(function (kept) { sparkcast.copy(button, location.origin + kept.href); }, function () { sparkcast.copy(button, location.href); });
  });
  get("ask").hidden = true;
  window.sparkcastRun = { answer: answer, chosen: function () { var row = document.querySelector(".options tr.answer"); return row ? +row.dataset.at : -1; } };
})();
