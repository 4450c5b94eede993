"""Japanese and Chinese headings, whose words stand side by side without blanks, as English words."""

import re
import unicodedata

_WORDS: dict[str, str] = {
    word: english
    for english, words in {
        "accuracy": "精度 正解率 准确率 準確率 正确率 正確率 准确度 準確度",
        "attempt": "試行 尝试 嘗試",
        "batch": "バッチ 批次",
        "batch_size": "バッチサイズ 批大小 批次大小 批量大小 批量",
        "cause": "原因 理由",
        "comment": "備考 备注 備註 コメント メモ 注释 註釋 说明 說明",
        "cores": "コア 核心 内核 核",
        "cost": "費用 费用 コスト 成本 料金 金額 金额 花费 花費",
        "data": "データ 数据 數據 資料",
        "data_size": "データ量 データサイズ 数据量 數據量 資料量 数据大小 数据规模",
        "dataset": "データセット 数据集 數據集 資料集",
        "date": "日付 日期 日時 日时",
        "duration": "時長 时长 耗時 耗时 用時 用时",
        "elapsed_time": "経過時間 经过时间 經過時間",
        "end_time": "終了時刻 終了時間 終了日時 结束时间 結束時間 完成时间 完成時間",
        "epochs": "エポック 轮数 輪數 轮次 輪次",
        "error": "エラー 错误 錯誤 誤差 误差",
        "error_rate": "エラー率 誤り率 错误率 錯誤率",
        "executors": "エグゼキュータ エグゼキューター 執行器 执行器",
        "exit_code": "終了コード 退出码 退出碼",
        "fraction": "割合 比例",
        "input": "入力 输入 輸入",
        "instances": "インスタンス 实例 實例",
        "instance_type": "インスタンスタイプ 实例类型 實例類型",
        "iterations": "反復回数 イテレーション 迭代次数 迭代次數 迭代",
        "job": "ジョブ 作业 作業 任务 任務",
        "learning_rate": "学習率 学习率 學習率",
        "loss": "損失 损失",
        "machines": "マシン 機器 机器 計算機 计算机",
        "machine_type": "マシンタイプ 机型 機型 机器类型 機器類型",
        "max": "最大",
        "mean": "平均",
        "memory": "メモリ メモリー 内存 記憶體 内存大小",
        "n": "数 數 個数 个数 個數 数量 數量 台数 台數 回数 次数 次數",
        "name": "名前 名称 名稱",
        "no": "番号 编号 編號 序号 序號",
        "nodes": "ノード 节点 節點",
        "partitions": "パーティション 分区 分區",
        "precision": "適合率 精确率 精確率",
        "price": "価格 价格 價格 単価 单价 單價",
        "recall": "再現率 召回率",
        "result": "結果 结果",
        "rows": "行数 行數 件数 レコード 记录 記錄 条数 條數",
        "run": "実行 运行 運行 执行 執行",
        "run_time": "実行時間 処理時間 所要時間 运行时间 運行時間 执行时间 執行時間 处理时间 處理時間 "
        "运行时长 运行耗时",
        "s": "秒 秒数 秒數",
        "samples": "サンプル 样本 樣本",
        "score": "スコア 得分",
        "servers": "サーバー サーバ 服务器 伺服器",
        "size": "サイズ 大小 容量 規模 规模 量",
        "start_time": "開始時刻 開始時間 開始日時 开始时间",
        "status": "状態 状态 狀態 ステータス 成否",
        "throughput": "スループット 吞吐量",
        "time": "時間 时间",
        "total": "合計 合计 總 总",
        "total_time": "総時間 合計時間 总时间 總時間 总耗时 總耗時",
        "training_time": "学習時間 訓練時間 训练时间 訓練时间 训练时长 训练耗时",
        "type": "種類 タイプ 类型 類型",
        "used": "使用量",
        "user": "ユーザー ユーザ 用户 用戶",
        "utilization": "使用率 利用率",
        "workers": "ワーカー ワーカ 工作节点 工作節點",
    }.items()
    for word in words.split()
}
# What stands for a unit, in a heading and in a cell, as the unit that we write.
UNITS: dict[str, str] = {
    unit: ours
    for ours, units in {
        "s": "秒 秒钟 秒鐘 秒間",
        "ms": "ミリ秒 毫秒",
        "min": "分 分钟 分鐘 分間",
        "h": "時間 小时 小時",
        "d": "日 天",
        "jpy": "円 日元",
        "cny": "元 人民币 人民幣",
        "usd": "ドル 美元",
        "eur": "ユーロ 欧元 歐元",
        "bytes": "バイト 字节 字節",
        "percent": "パーセント 百分比",
    }.items()
    for unit in units.split()
}
_SCRIPT = r"\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # kana and the characters that both languages share
_STRETCH = re.compile(rf"[{_SCRIPT}]+")
_PARTICLES = "のと及和的之"
_LONGEST = max(map(len, _WORDS))


def in_english(text: str) -> str:
    """A heading with each word that is known in English; what is not known stays as it is.

    >>> in_english("実行時間(秒)"), in_english("GPU数"), in_english("数据量"), in_english("未知 x")
    ('run_time(秒)', 'GPU_n', 'data_size', '未知 x')
    """
    base, bracket, rest = unicodedata.normalize("NFKC", text).partition("(")
    if not _STRETCH.search(base):
        return base + bracket + rest
    translated = _STRETCH.sub(lambda found: f"_{'_'.join(_segments(found[0]))}_", base)
    return re.sub(r"_* _*", " ", re.sub(r"_+", "_", translated)).strip("_ ") + bracket + rest


def _segments(stretch: str) -> list[str]:
    """The words of a stretch, the longest known ones first; letters of no known word stay together."""
    found: list[str] = []
    unknown = ""
    place = 0
    while place < len(stretch):
        longest = min(_LONGEST, len(stretch) - place)
        word = next((w for n in range(longest, 0, -1) if (w := stretch[place : place + n]) in _WORDS), "")
        if word or stretch[place] in _PARTICLES:
            found += [unknown] if unknown else []
            found += [_WORDS[word]] if word else []
            unknown = ""
        else:
            unknown += stretch[place]
        place += len(word) or 1
    return [*found, unknown] if unknown else found
